package dev.ringfetch.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** When the first read for a request is due, by what the reads before have found. */
final class FetchPaceTest {
  private static final long ROUND_TRIP_NS = 3_200;
  private static final long STEP_NS = ROUND_TRIP_NS / 8;
  private static final long PATIENCE_NS = 100 * ROUND_TRIP_NS;

  private long nowNs = 1_000_000;
  private final FetchPace pace = new FetchPace(() -> nowNs);

  /** The delay of the next first read, which is posted then. */
  private long delayNs() {
    pace.rest();
    final long sinceNs = nowNs;
    while (!pace.isDue(false)) {
      nowNs++;
      assertTrue(nowNs - sinceNs < PATIENCE_NS, "never");
    }
    pace.posted();
    return nowNs - sinceNs;
  }

  private void missed(long tookNs) {
    nowNs += tookNs;
    pace.missed();
  }

  private void found(long tookNs, long processNs) {
    nowNs += tookNs;
    pace.answered(processNs);
    pace.found();
  }

  @Test
  void readLeavesWithTheRequestWhileThatFindsTheAnswer() {
    for (int i = 0; i < 10; i++) {
      assertEquals(0, delayNs());
      found(ROUND_TRIP_NS, 0);
    }
  }

  @Test
  void eachFirstReadThatIsTooEarlyDelaysTheNext() {
    for (int i = 0; i < 8 * FetchPace.MOST; i++) {
      assertEquals(i * STEP_NS, delayNs());
      missed(ROUND_TRIP_NS);
    }
    assertEquals(FetchPace.MOST * ROUND_TRIP_NS, delayNs());
    missed(ROUND_TRIP_NS);
    assertEquals(FetchPace.MOST * ROUND_TRIP_NS, delayNs());
  }

  @Test
  void furtherReadsAreDueAtOnceAndSayNothing() {
    assertEquals(0, delayNs());
    missed(ROUND_TRIP_NS);
    for (int i = 0; i < 10; i++) {
      assertTrue(pace.isDue(false));
      pace.posted();
      missed(ROUND_TRIP_NS);
    }
    assertTrue(pace.isDue(false));
    pace.posted();
    found(ROUND_TRIP_NS, 0);
    assertTrue(pace.isDue(false), "more is expected");
    assertEquals(STEP_NS, delayNs());
  }

  @Test
  void delayShrinksToTheProcessTime() {
    for (int i = 0; i < 8; i++) {
      delayNs();
      missed(ROUND_TRIP_NS);
    }
    assertEquals(8 * STEP_NS, delayNs());
    found(ROUND_TRIP_NS, 4 * STEP_NS);
    assertEquals(7 * STEP_NS + STEP_NS / 2, delayNs());
    found(ROUND_TRIP_NS, 10 * STEP_NS); // it was read early enough, whatever it took
    assertEquals(7 * STEP_NS + STEP_NS / 2, delayNs());
    for (int i = 0; i < 100; i++) {
      found(ROUND_TRIP_NS, 4 * STEP_NS);
      delayNs();
    }
    found(ROUND_TRIP_NS, 4 * STEP_NS);
    assertEquals(4 * STEP_NS, delayNs());
  }

  @Test
  void delayOfNextToNothingIsNone() {
    delayNs();
    missed(ROUND_TRIP_NS);
    assertEquals(STEP_NS, delayNs());
    int before = 1; // after how many finds a read leaves with its request again
    found(ROUND_TRIP_NS, 0);
    while (delayNs() > 0) {
      found(ROUND_TRIP_NS, 0);
      before++;
    }
    assertEquals(11, before); // (7/8)^11 of an eighth of a round trip is a 32nd of it
  }

  @Test
  void waitingForOthersIsNoRoundTrip() {
    delayNs();
    found(ROUND_TRIP_NS, 0);
    delayNs();
    found(1_000 * ROUND_TRIP_NS, 0);
    assertEquals(0, delayNs());
    missed(ROUND_TRIP_NS);
    assertEquals(STEP_NS, delayNs());
  }

  @Test
  void roundTripThatGrowsIsNoticed() {
    delayNs();
    for (int i = 0; i < 200; i++) {
      found(2 * ROUND_TRIP_NS, 0);
      delayNs();
    }
    missed(2 * ROUND_TRIP_NS);
    assertEquals(2 * STEP_NS, delayNs());
  }

  @Test
  void whoWaitsIsDueAfterTheDelayOnly() {
    delayNs();
    missed(ROUND_TRIP_NS);
    pace.rest();
    assertFalse(pace.isDue(false));
    nowNs += STEP_NS - 1;
    assertFalse(pace.isDue(false));
    nowNs++;
    assertTrue(pace.isDue(false));
  }

  @Test
  void whoWaitedForATurnReadsAtOnceAndLearnsNothing() {
    delayNs();
    missed(ROUND_TRIP_NS);
    pace.rest();
    assertTrue(pace.isDue(true));
    assertTrue(pace.isDue(false)); // it is sent
    pace.posted();
    missed(ROUND_TRIP_NS);
    assertEquals(STEP_NS, delayNs());
  }

  @Test
  void readForAnotherReasonSaysNothing() {
    delayNs();
    missed(ROUND_TRIP_NS);
    pace.rest();
    assertFalse(pace.isDue(false));
    pace.posted();
    missed(ROUND_TRIP_NS);
    assertTrue(pace.isDue(false), "it was the first");
    assertEquals(STEP_NS, delayNs());
  }

  @Test
  void readForNothingSaysNothing() {
    pace.posted();
    missed(ROUND_TRIP_NS);
    assertEquals(0, delayNs());
  }
}
