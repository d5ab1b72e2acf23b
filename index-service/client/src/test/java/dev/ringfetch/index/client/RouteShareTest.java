package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.client.RouteShareSimulation.Load;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The share of direct reads, alone and by simulated clients. A failure names its seed: run it first
 * with {@code -Dtest.args=-Dringfetch.seed=SEED}.
 */
@Timeout(60)
final class RouteShareTest {
  private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(1);
  private static final long SETTLED_NS = 60_000_000;
  private static final long MEASURED_NS = 20_000_000;
  private static final long STEP_NS = 100_000;

  /**
   * Of the best share that all clients keep to. Each client moves until both routes take it as
   * long, which is not quite where all together are served most.
   */
  private static final double CLOSE = 0.92;

  private final long seed = Long.getLong("ringfetch.seed", 1);

  private long nowNs;
  private int drawn; // what the next draws give, below their bound
  private final List<Integer> moves = new ArrayList<>();
  private int seen = RouteShare.ALL;
  private long probes;
  private final RouteShare share =
      new RouteShare(() -> nowNs, bound -> drawn % bound, this::onWindow);

  private void onWindow(int eighths, long probed) {
    probes += probed;
    if (eighths != seen) {
      moves.add(eighths);
      seen = eighths;
    }
  }

  /** A read of its own, alone; returns whether it went directly. */
  private boolean read(long directNs, long callNs) {
    final RouteShare.Turn turn = share.begin(DEADLINE_NS);
    nowNs += turn.isDirect() ? directNs : callNs;
    share.end(turn, true);
    drawn++;
    return turn.isDirect();
  }

  private void read(int times, long directNs, long callNs) {
    for (int i = 0; i < times; i++) {
      read(directNs, callNs);
    }
  }

  @Test
  void readsGoDirectlyAtFirst() {
    for (int i = 0; i < 32; i++) {
      assertTrue(read(10_000, 20_000));
    }
    assertEquals(List.of(), moves);
  }

  @Test
  void itMovesByEighthsToTheFasterRoute() {
    read(10_000, 50_000, 10_000);
    assertEquals(0, share.eighths());
    assertEquals(List.of(7, 6, 5, 4, 3, 2, 1, 0), moves);
    read(20_000, 10_000, 50_000);
    assertEquals(RouteShare.ALL, share.eighths());
  }

  @Test
  void itMovesInwardsWhereBothTakeTheSame() {
    read(2_000, 10_000, 10_000);
    assertEquals(6, share.eighths());
    read(5_000, 50_000, 10_000);
    assertEquals(0, share.eighths());
    read(5_000, 10_000, 10_000);
    assertEquals(2, share.eighths());
  }

  @Test
  void probesTakeTwoPercentOfTheTime() {
    long probing = 0;
    for (int i = 0; i < 20_000; i++) {
      final long beganNs = nowNs;
      if (!read(10_000, 100_000)) {
        probing += nowNs - beganNs;
      }
    }
    assertEquals(RouteShare.ALL, share.eighths());
    assertTrue(probes > 5, "probes=" + probes);
    assertTrue(probing <= nowNs / 50, "probing=" + probing + " of=" + nowNs);
  }

  /** A probe of a slow route might take all the time that is left. */
  @Test
  void aReadWithLittleTimeIsNoProbe() {
    read(500, 10_000, 100_000);
    read(64, 10_000, 100_000); // ends a window
    final long before = probes;
    for (int i = 0; i < 5_000; i++) {
      final RouteShare.Turn turn = share.begin(19 * 100_000);
      assertTrue(turn.isDirect());
      nowNs += 10_000;
      share.end(turn, true);
    }
    assertEquals(before, probes);
  }

  /** Reads that hang count before they have ended, if they have taken longer than the median. */
  @Test
  void readsUnderWayCountByTheirAge() {
    read(20_000, 20_000, 10_000);
    assertEquals(0, share.eighths());
    final List<RouteShare.Turn> hanging = new ArrayList<>();
    for (int i = 0; i < 100 && hanging.size() < 12; i++) {
      final RouteShare.Turn turn = share.begin(DEADLINE_NS);
      if (!turn.isDirect()) {
        hanging.add(turn);
      } else {
        nowNs += 20_000;
        share.end(turn, true);
      }
    }
    assertEquals(12, hanging.size());
    nowNs += 1_000_000_000;
    read(200, 20_000, 10_000); // others do not hang
    assertTrue(share.eighths() > 0);
  }

  /** Else a slow time of some seconds would be the end of probes, near the deadline. */
  @Test
  void aRouteIsForgottenThatNobodyTakes() {
    read(2_000, 60_000_000, 100_000);
    assertEquals(0, share.eighths());
    read(100_000, 20_000, 100_000);
    assertEquals(RouteShare.ALL, share.eighths());
  }

  @Test
  void readsThatFailAtOnceAreNotFast() {
    for (int i = 0; i < 20_000; i++) {
      final RouteShare.Turn turn = share.begin(DEADLINE_NS);
      nowNs += turn.isDirect() ? 20_000 : 5_000;
      share.end(turn, turn.isDirect());
      drawn++;
    }
    assertEquals(RouteShare.ALL, share.eighths());
  }

  @Test
  void aTurnThatWasCancelledSaysNothing() {
    for (int i = 0; i < 1_000; i++) {
      final RouteShare.Turn turn = share.begin(DEADLINE_NS);
      assertTrue(turn.isDirect());
      nowNs += 1_000_000;
      share.cancel(turn);
    }
    assertEquals(0, probes);
    read(2_000, 10_000, 50_000);
    assertEquals(List.of(), moves);
  }

  /** One in 16 fast reads is timed, and all slow ones. */
  @Test
  void fastReadsAreSeldomTimed() {
    read(100, 200, 2_000);
    int timed = 0;
    for (int i = 0; i < 1_600; i++) {
      drawn = i;
      final RouteShare.Turn turn = share.begin(-1); // no probes
      timed += turn.isTimed() ? 1 : 0;
      nowNs += 200;
      share.end(turn, true);
    }
    assertEquals(100, timed);
  }

  private double best(int cores, Load load, int clients) {
    double best = 0;
    for (int eighths = 0; eighths <= RouteShare.ALL; eighths++) {
      final RouteShareSimulation fixed =
          new RouteShareSimulation(seed, cores, load).fixed(clients, eighths);
      fixed.run(MEASURED_NS / 4);
      best = Math.max(best, fixed.run(MEASURED_NS / 2));
    }
    return best;
  }

  @Test
  void aMixtureServesMoreThanEitherRoute() {
    assertTrue(ratio(1, RouteShareSimulation.GET, 8) > CLOSE);
    assertTrue(ratio(4, RouteShareSimulation.SCAN, 32) > 1, "not better than any fixed share");
  }

  @Tag("slow")
  @Test
  void itIsNowhereFarBelowTheBestFixedShare() {
    for (final Load load : List.of(RouteShareSimulation.GET, RouteShareSimulation.SCAN)) {
      for (final int cores : new int[] {1, 2, 4}) {
        for (final int clients : new int[] {1, 2, 4, 8, 16, 32, 64}) {
          assertTrue(ratio(cores, load, clients) > CLOSE);
        }
      }
    }
  }

  /** Reads a second, by those of the best share that all clients keep to. */
  private double ratio(int cores, Load load, int clients) {
    final RouteShareSimulation own = new RouteShareSimulation(seed, cores, load).adaptive(clients);
    own.run(SETTLED_NS);
    final double ratio = own.run(MEASURED_NS) / best(cores, load, clients);
    final String what =
        String.format(
            "seed=%d %s, cores=%d clients=%d: %.3f of the best fixed share, %.2f eighths, probes"
                + " %.2f %% of the time",
            seed,
            load.name(),
            cores,
            clients,
            ratio,
            (double) own.eighths() / clients,
            100 * own.probeTime());
    System.out.println(what);
    assertTrue(own.probeTime() <= 0.021, what); // a probe is under way at the end
    return ratio;
  }

  /** The clients' shares together stay within an eighth for each of them: no herd. */
  @Test
  void clientsDoNotMoveTogether() {
    final int clients = 32;
    final RouteShareSimulation own =
        new RouteShareSimulation(seed, 4, RouteShareSimulation.SCAN).adaptive(clients);
    own.run(SETTLED_NS);
    int least = Integer.MAX_VALUE;
    int most = 0;
    for (int i = 0; i < 400; i++) {
      own.run(STEP_NS);
      least = Math.min(least, own.eighths());
      most = Math.max(most, own.eighths());
    }
    assertTrue(most - least <= clients, "seed=" + seed + " least=" + least + " most=" + most);
  }

  /** 20 windows after the server has lost its cores to others, and after it has them again. */
  @Test
  void itFollowsAServerThatBecomesBusy() {
    final int clients = 8;
    final Load busy = new Load("gets of a busy server", 2, 20_000, 1);
    final RouteShareSimulation own =
        new RouteShareSimulation(seed, 4, RouteShareSimulation.GET).adaptive(clients);
    own.run(SETTLED_NS);
    for (final Load load : List.of(busy, RouteShareSimulation.GET)) {
      own.change(4, load);
      final long until = own.done() + 20L * 48 * clients;
      while (own.done() < until) {
        own.run(STEP_NS);
      }
      final double ratio = own.run(MEASURED_NS / 4) / best(4, load, clients);
      assertTrue(ratio > CLOSE, "seed=" + seed + " " + load.name() + " ratio=" + ratio);
    }
  }
}
