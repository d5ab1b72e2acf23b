package dev.ringfetch.session.remote;

import static dev.ringfetch.session.Stream.NO_DEADLINE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Kind;
import dev.ringfetch.counters.Tally;
import org.junit.jupiter.api.Test;

/** When the first read for an answer is due, by what the reads before have found. */
final class FetchPaceTest {
  private static final long ROUND_TRIP_NS = 3_200;
  private static final long STEP_NS = ROUND_TRIP_NS / 8;
  private static final long PATIENCE_NS = 100 * ROUND_TRIP_NS;

  private long nowNs = -1_000_000_000; // a clock may begin anywhere
  private final Tally tally = new Tally(Kind.SESSION);
  private final FetchPace pace = new FetchPace(() -> nowNs, tally);

  private boolean isDue() {
    return pace.isDue(false, NO_DEADLINE);
  }

  /** The delay of the next first read, which is posted then. */
  private long delayNs() {
    return delayNs(NO_DEADLINE);
  }

  private long delayNs(long deadlineNs) {
    pace.rest();
    final long sinceNs = nowNs;
    while (!pace.isDue(false, deadlineNs)) {
      nowNs++;
      assertTrue(nowNs - sinceNs < PATIENCE_NS, "never");
    }
    pace.posted(false);
    return nowNs - sinceNs;
  }

  private void misses(long tookNs) {
    nowNs += tookNs;
    pace.missed();
  }

  private void finds(long tookNs, long processNs) {
    nowNs += tookNs;
    pace.answered(processNs);
    pace.found();
  }

  /** The read under way was the first and is too early; a further one finds the answer. */
  private void isEarly(long roundTripNs) {
    misses(roundTripNs);
    assertTrue(isDue());
    pace.posted(false);
    finds(roundTripNs, 0);
  }

  /** As that; the second finds something, but only the third the answer. */
  private void isEarlyAndTheSecond(Runnable found) {
    misses(ROUND_TRIP_NS);
    pace.posted(false);
    nowNs += ROUND_TRIP_NS;
    found.run();
    pace.posted(false);
    finds(ROUND_TRIP_NS, 0);
  }

  private void isEarly() {
    isEarly(ROUND_TRIP_NS);
  }

  @Test
  void readLeavesWithTheRequestWhileThatFindsTheAnswer() {
    for (int i = 0; i < 10; i++) {
      assertEquals(0, delayNs());
      finds(ROUND_TRIP_NS, 0);
    }
  }

  @Test
  void eachFirstReadThatIsTooEarlyDelaysTheNext() {
    for (int i = 0; i < 8 * FetchPace.MOST; i++) {
      assertEquals(i * STEP_NS, delayNs());
      isEarly();
    }
    assertEquals(FetchPace.MOST * ROUND_TRIP_NS, delayNs());
    isEarly();
    assertEquals(FetchPace.MOST * ROUND_TRIP_NS, delayNs());
  }

  @Test
  void furtherReadsAreDueAtOnceAndSayNothing() {
    assertEquals(0, delayNs());
    for (int i = 0; i < 10; i++) {
      misses(ROUND_TRIP_NS);
      assertTrue(isDue());
      pace.posted(false);
    }
    finds(ROUND_TRIP_NS, 0);
    for (int i = 0; i < 10; i++) {
      assertTrue(isDue(), "more is expected");
      pace.posted(false);
      misses(ROUND_TRIP_NS);
      assertTrue(isDue());
      pace.posted(false);
      finds(ROUND_TRIP_NS, 0);
    }
    assertEquals(STEP_NS, delayNs());
  }

  @Test
  void delayShrinksToTheProcessTime() {
    for (int i = 0; i < 8; i++) {
      delayNs();
      isEarly();
    }
    assertEquals(8 * STEP_NS, delayNs());
    finds(ROUND_TRIP_NS, 4 * STEP_NS);
    assertEquals(7 * STEP_NS + STEP_NS / 2, delayNs());
    finds(ROUND_TRIP_NS, 10 * STEP_NS); // it was read early enough, whatever it took
    assertEquals(7 * STEP_NS + STEP_NS / 2, delayNs());
    for (int i = 0; i < 100; i++) {
      finds(ROUND_TRIP_NS, 4 * STEP_NS);
      delayNs();
    }
    assertEquals(4 * STEP_NS, delayNs());
  }

  @Test
  void delayOfNextToNothingIsNone() {
    delayNs();
    isEarly();
    assertEquals(STEP_NS, delayNs());
    int before = 1; // finds, until a read leaves with its request again
    finds(ROUND_TRIP_NS, 0);
    while (delayNs() > 0) {
      finds(ROUND_TRIP_NS, 0);
      before++;
    }
    assertEquals(11, before); // (7/8)^11 of an eighth of a round trip is less than a 32nd of it
  }

  @Test
  void waitingForOthersIsNoRoundTrip() {
    delayNs();
    finds(ROUND_TRIP_NS, 0);
    delayNs();
    isEarly(1_000 * ROUND_TRIP_NS);
    assertEquals(STEP_NS + STEP_NS / 64, delayNs());
  }

  @Test
  void roundTripThatGrowsIsNoticed() {
    delayNs();
    for (int i = 0; i < 200; i++) {
      finds(2 * ROUND_TRIP_NS, 0);
      delayNs();
    }
    isEarly(2 * ROUND_TRIP_NS);
    assertEquals(2 * STEP_NS, delayNs());
  }

  /** As the first one of a JVM may. */
  @Test
  void roundTripThatTookLongOnceIsForgotten() {
    delayNs();
    isEarly(1_000 * ROUND_TRIP_NS);
    assertEquals(125 * ROUND_TRIP_NS, delayNsAtLeast());
    finds(ROUND_TRIP_NS, 0);
    assertEquals(FetchPace.MOST * ROUND_TRIP_NS * 7 / 8, delayNs());
  }

  @Test
  void clockThatStoodStillIsNoRoundTrip() {
    delayNs();
    finds(0, 0);
    for (int i = 0; i < 1_000; i++) {
      delayNs();
      finds(ROUND_TRIP_NS, 0);
    }
    delayNs();
    isEarly();
    assertEquals(STEP_NS, delayNs());
  }

  private long delayNsAtLeast() {
    pace.rest();
    final long sinceNs = nowNs;
    while (!isDue()) {
      nowNs += STEP_NS;
    }
    pace.posted(false);
    return nowNs - sinceNs;
  }

  @Test
  void readBeforeSleepIsDueJustBeforeTheNextTime() {
    assertTrue(isDue());
    pace.posted(true);
    isEarly();
    assertEquals(STEP_NS, delayNs());
    finds(ROUND_TRIP_NS, STEP_NS);
    for (int i = 0; i < 7; i++) {
      delayNs();
      isEarly();
    }
    pace.rest();
    assertFalse(isDue());
    nowNs += 3 * STEP_NS;
    assertFalse(isDue());
    pace.posted(true);
    isEarly();
    assertEquals(4 * STEP_NS, delayNs(), "a half");
    finds(ROUND_TRIP_NS, 4 * STEP_NS);
    pace.rest();
    assertFalse(isDue());
    nowNs += 3 * STEP_NS;
    pace.posted(true);
    isEarly();
    assertEquals(3 * STEP_NS, delayNs());
    finds(ROUND_TRIP_NS, 3 * STEP_NS);
    pace.rest();
    assertFalse(isDue());
    nowNs += 5 * STEP_NS; // it was late
    pace.posted(true);
    misses(ROUND_TRIP_NS);
    assertEquals(3 * STEP_NS, delayNs());
  }

  @Test
  void readForAnotherReasonSaysNothing() {
    delayNs();
    isEarly();
    pace.rest();
    assertFalse(isDue());
    pace.posted(false);
    isEarly();
    assertEquals(STEP_NS, delayNs());
    finds(ROUND_TRIP_NS, STEP_NS);
    pace.rest();
    pace.posted(false); // for nothing
    misses(ROUND_TRIP_NS);
    finds(ROUND_TRIP_NS, 0);
    assertEquals(STEP_NS, delayNs());
  }

  @Test
  void whoReadsAtOnceLearnsNothing() {
    delayNs();
    isEarly();
    pace.rest();
    assertTrue(pace.isDue(true, NO_DEADLINE));
    assertTrue(isDue());
    pace.posted(false);
    isEarly();
    assertEquals(STEP_NS, delayNs());
  }

  @Test
  void answerOfAServerThatWasRungIsNotLate() {
    delayNs();
    misses(ROUND_TRIP_NS);
    tally.add(Counter.SESSION_WAKEUPS_SENT, 1);
    pace.posted(false);
    finds(ROUND_TRIP_NS, 0);
    pace.rest();
    tally.add(Counter.SESSION_WAKEUPS_SENT, 1); // with the request
    assertTrue(isDue());
    pace.posted(false);
    isEarly();
    assertEquals(0, delayNs());
    isEarly();
    assertEquals(STEP_NS, delayNs());
  }

  @Test
  void whatIsPushedMeanwhileIsNotLate() {
    delayNs();
    misses(ROUND_TRIP_NS);
    assertEquals(0, delayNs());
    finds(ROUND_TRIP_NS, 0);
    assertEquals(0, delayNs());
  }

  /** It is a message of a stream, or credit for one. */
  @Test
  void whatSaysNotHowLongItTookSaysNothing() {
    delayNs();
    misses(ROUND_TRIP_NS);
    pace.posted(false);
    pace.found();
    assertEquals(0, delayNs());
    isEarly();
    assertEquals(STEP_NS, delayNs());
    nowNs += ROUND_TRIP_NS;
    pace.found();
    assertEquals(STEP_NS, delayNs());
  }

  @Test
  void deadlineIsReadFor() {
    for (int i = 0; i < 64; i++) {
      delayNs();
      isEarly();
    }
    assertEquals(3 * ROUND_TRIP_NS, delayNs(nowNs + 5 * ROUND_TRIP_NS));
    isEarly();
    assertEquals(8 * ROUND_TRIP_NS, delayNs(nowNs + 10 * ROUND_TRIP_NS));
    isEarly();
    assertEquals(0, delayNs(nowNs + ROUND_TRIP_NS));
  }

  @Test
  void whoFetchesAgainBeginsWithWhatCallsTookMeanwhile() {
    for (int i = 0; i < 8; i++) {
      delayNs();
      isEarly();
    }
    pace.answered(5 * STEP_NS);
    pace.turned(false);
    pace.answered(STEP_NS);
    pace.turned(true);
    assertEquals(4 * STEP_NS, delayNs(), "three more than calls take");
    isEarly();
    pace.answered(20 * STEP_NS);
    pace.turned(false);
    pace.answered(STEP_NS);
    pace.turned(true);
    assertEquals(2 * STEP_NS, delayNs(), "a share of a round trip, at the least");
    isEarly();
    pace.turned(false);
    pace.answered(20 * STEP_NS);
    pace.turned(true);
    assertEquals(3 * STEP_NS, delayNs());
  }

  /** As where it is longer than the window. */
  @Test
  void answerOfWhichTheFirstReadFindsTheBeginningIsInTime() {
    delayNs();
    isEarly();
    assertEquals(STEP_NS, delayNs());
    nowNs += ROUND_TRIP_NS;
    pace.begun();
    pace.posted(false);
    finds(ROUND_TRIP_NS, 0);
    assertEquals(STEP_NS * 7 / 8, delayNs());
  }

  @Test
  void answerOfWhichALaterReadFindsTheBeginningIsLate() {
    delayNs();
    isEarly();
    assertEquals(STEP_NS, delayNs());
    isEarlyAndTheSecond(pace::begun);
    assertEquals(2 * STEP_NS, delayNs());
  }

  @Test
  void answerBeforeWhichSomethingElseCameIsNotLate() {
    delayNs();
    isEarly();
    assertEquals(STEP_NS, delayNs());
    isEarlyAndTheSecond(pace::found);
    assertEquals(STEP_NS, delayNs());
  }

  @Test
  void delayBeginsWithARequestOnly() {
    for (final FetchPace.Phase from : FetchPace.Phase.values()) {
      for (final FetchPace.Phase to : FetchPace.Phase.values()) {
        if (from == FetchPace.Phase.READING && to == FetchPace.Phase.DELAYING) {
          assertThrows(IllegalStateException.class, () -> from.to(to));
        } else {
          assertEquals(to, from.to(to));
        }
      }
    }
  }
}
