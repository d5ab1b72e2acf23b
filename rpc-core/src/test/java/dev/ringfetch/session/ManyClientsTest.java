package dev.ringfetch.session;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.sim.NicModel;
import dev.ringfetch.session.ReplyExperiment.Result;
import dev.ringfetch.session.ReplyExperiment.Setup;
import dev.ringfetch.session.remote.RemoteSide;
import dev.ringfetch.session.remote.ReplyPolicy;
import dev.ringfetch.session.remote.TurnSchedule;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Many clients of one server over cards that have the state of 256 connections at hand: without
 * turns the card gets slow, with turns ({@link TurnSchedule}) it does not. Every client has a call
 * of 32 bytes under way, all the time.
 *
 * <p>A failure names its seed: run it first with {@code -Dtest.args=-Dringfetch.seed=SEED}.
 */
class ManyClientsTest {
  private static final NicModel CARD = NicModel.CONNECT_X3.caching(256);
  private static final int[] FEW_AND_MANY = {40, 400};
  private static final int[] CLIENTS = {40, 100, 200, 400, 800};
  private static final int MACHINES = 8; // no card of a client misses any
  private static final long CLIENT_POLL_NS = 400;
  private static final long WARM_UP_NS = 500_000;
  private static final long MEASURE_NS = 1_000_000;
  private static final long TURN_NS = SessionContext.TURN_LENGTH_NS_DEFAULT;

  private final long seed = Long.getLong("ringfetch.seed", 1);

  private static Setup setup(ReplyPolicy mode, int clients, int threshold) {
    return new Setup(
        mode,
        CARD,
        sinceNs -> 0,
        clients,
        MACHINES,
        16 * 1024,
        100,
        CLIENT_POLL_NS,
        context -> context.turnThreshold(threshold));
  }

  private Result withoutTurns(ReplyPolicy mode, int clients) {
    return ReplyExperiment.run(seed, setup(mode, clients, 0), WARM_UP_NS, MEASURE_NS);
  }

  /** Measured over whole periods, after an epoch without turns and a period. */
  private Result withTurns(ReplyPolicy mode, int clients) {
    final int threshold = SessionContext.TURN_THRESHOLD_DEFAULT;
    final long periodNs = clients / SessionContext.TURN_GROUP_DEFAULT * TURN_NS;
    final boolean turns = clients > threshold;
    return ReplyExperiment.run(
        seed,
        setup(mode, clients, threshold),
        turns ? RemoteSide.EPOCH_TURNS * TURN_NS + periodNs : WARM_UP_NS,
        turns ? periodNs : MEASURE_NS);
  }

  private static String line(ReplyPolicy mode, int clients, Result without, Result with) {
    return String.format(
        "%-6s %7d %17.3f %14.2f %14.3f %14.2f %14.0f",
        mode,
        clients,
        without.callsPerSecond() / 1e6,
        without.misses(),
        with.callsPerSecond() / 1e6,
        with.misses(),
        with.latencyNs() / 1e3);
  }

  private void figure(ReplyPolicy mode, int... numbers) {
    System.out.println("seed=" + seed + " " + CARD.name() + ", 256 connections at hand");
    System.out.println(
        "mode   clients  no turns: M calls/s  misses  turns: M calls/s  misses  mean us");
    double fewWithout = 0;
    double fewWith = 0;
    for (final int clients : numbers) {
      final Result without = withoutTurns(mode, clients);
      final Result with = withTurns(mode, clients);
      final String line = line(mode, clients, without, with);
      System.out.println(line);
      if (clients == numbers[0]) {
        fewWithout = without.callsPerSecond();
        fewWith = with.callsPerSecond();
        assertEquals(without, with, "nothing is done where there are few clients");
      }
      final double kept = with.callsPerSecond() / fewWith;
      final double left = without.callsPerSecond() / fewWithout;
      final String what = "seed=" + seed + " kept=" + kept + " left=" + left + ": " + line;
      assertAll(
          () -> assertTrue(kept >= 0.95, what),
          () -> assertTrue(clients < 400 || left <= (clients < 800 ? 0.8 : 0.7), what));
    }
  }

  @Tag("slow")
  @Test
  void turnsKeepTheRateOfAnswersThatAreRead() {
    figure(ReplyPolicy.FETCH, FEW_AND_MANY);
  }

  @Tag("slow")
  @Test
  void turnsKeepTheRateOfAnswersThatArePushed() {
    figure(ReplyPolicy.PUSH, FEW_AND_MANY);
  }

  @Tag("slow")
  @ParameterizedTest
  @EnumSource(names = {"FETCH", "PUSH"})
  void theRateByTheNumberOfClients(ReplyPolicy mode) {
    figure(mode, CLIENTS);
  }
}
