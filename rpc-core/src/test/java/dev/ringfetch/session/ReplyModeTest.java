package dev.ringfetch.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.sim.NicModel;
import dev.ringfetch.session.ReplyExperiment.Result;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Reading answers against pushing them, over cards of published rates: RFP's figure (EuroSys'17).
 *
 * <p>A failure names its seed: run it first with {@code -Dtest.args=-Dringfetch.seed=SEED}.
 */
class ReplyModeTest {
  private static final long WARM_UP_NS = 500_000;
  private static final long MEASURE_NS = 3_000_000;
  private static final long STEP_NS = 1_000;
  private static final NicModel CARD = NicModel.CONNECT_X3;

  private final long seed = Long.getLong("ringfetch.seed", System.nanoTime());

  private Result run(ReplyMode mode, NicModel card, long processNs) {
    return ReplyExperiment.run(seed, mode, card, sinceNs -> processNs, WARM_UP_NS, MEASURE_NS);
  }

  private double rate(ReplyMode mode, NicModel card, long processNs) {
    return run(mode, card, processNs).callsPerSecond();
  }

  /** By how much reading is faster: 1 where it makes no difference. */
  private double gain(NicModel card, long processNs) {
    return rate(ReplyMode.FETCH, card, processNs) / rate(ReplyMode.PUSH, card, processNs);
  }

  @Test
  void ratesOfServersThatAnswerAtOnce() {
    final Result fetch = run(ReplyMode.FETCH, CARD, 0);
    final Result push = run(ReplyMode.PUSH, CARD, 0);
    System.out.println("seed=" + seed + " FETCH " + fetch + " PUSH " + push);
    assertEquals(5.5e6, fetch.callsPerSecond(), 0.04 * 5.5e6);
    assertEquals(2.0, fetch.reads() + fetch.clientWrites(), 0.1, "round trips");
    assertEquals(0, fetch.serverWrites());
    assertEquals(2.11e6, push.callsPerSecond(), 0.04 * 2.11e6);
    assertTrue(push.callsPerSecond() <= 2.11e6, "faster than the card: " + push);
    assertEquals(0, push.reads());
  }

  @Test
  @Tag("slow")
  void readingGainsMoreThanATenthWhereHandlersAreShort() {
    for (long processNs = 0; processNs <= 15 * STEP_NS; processNs += STEP_NS) {
      final double gain = gain(CARD, processNs);
      final String what = "seed=" + seed + " processNs=" + processNs + " gain=" + gain;
      System.out.println(what);
      assertTrue(gain > 1.1 || processNs > 6 * STEP_NS, what);
      assertTrue(gain <= 1.1 || processNs <= 8 * STEP_NS, what);
    }
  }

  /**
   * Where a card issues twice as much, reading pays for less than half as long: what it takes of
   * the inbound engine besides, by reads that come too early, stays the same.
   */
  @Test
  @Tag("slow")
  void fasterOutboundEngineMovesTheCrossing() {
    final double crossingNs = crossingNs(CARD);
    final double doubledNs = crossingNs(twiceOutbound(CARD));
    final String what = "seed=" + seed + " crossingNs=" + crossingNs + ", of twice=" + doubledNs;
    System.out.println(what);
    assertTrue(crossingNs > 6_000 && crossingNs < 8_500, what);
    assertTrue(doubledNs < 0.6 * crossingNs, what);
  }

  /** The process time from which on reading gains less than 5 %, interpolated. */
  private double crossingNs(NicModel card) {
    double before = gain(card, 0);
    for (long processNs = STEP_NS; before > 1.05; processNs += STEP_NS) {
      final double gain = gain(card, processNs);
      if (gain < 1.05) {
        return processNs - STEP_NS * (1.05 - gain) / (before - gain);
      }
      before = gain;
    }
    return 0;
  }

  private static NicModel twiceOutbound(NicModel card) {
    return new NicModel(
        card.name() + ", twice outbound",
        card.postNs(),
        2 * card.outboundPerSecond(),
        card.inboundPerSecond(),
        card.bitsPerSecond(),
        card.wireNs(),
        card.cachedConnections(),
        card.missNs());
  }
}
