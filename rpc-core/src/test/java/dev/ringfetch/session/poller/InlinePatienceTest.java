package dev.ringfetch.session.poller;

import static dev.ringfetch.session.poller.InlinePatience.PATIENCE_NS;
import static dev.ringfetch.session.poller.InlinePatience.PAUSE_NS;
import static dev.ringfetch.session.poller.Patience.REST;
import static dev.ringfetch.session.poller.Patience.TAKE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** When a thread that stands by looks, takes over and rests. */
class InlinePatienceTest {
  private static final long START_NS = -5_000_000; // clocks may be negative
  private static final long SLACK_NS = 60_000; // by which a park is longer than it was asked to be
  private static final int LEAST = 4;

  private final InlinePatience watch = new InlinePatience(LEAST);

  private long nowNs = START_NS;

  InlinePatienceTest() {
    watch.stand(nowNs, 0);
  }

  private long lookAt(boolean lent, long lentAtNs) {
    return watch.look(nowNs, lent, lentAtNs, nowNs - START_NS);
  }

  @Test
  void dutyIsTakenAboutATenthOfAMillisecondAfterItWasLent() {
    assertTakes(PAUSE_NS);
  }

  @Test
  void dutyIsTakenLaterWhereThatWasNotNecessaryForLong() {
    nowNs += InlinePatience.CALM_NS;
    watch.begin(nowNs, nowNs - START_NS);
    assertTakes(InlinePatience.LONG_PAUSE_NS);
    watch.stand(nowNs, nowNs - START_NS);
    assertTakes(PAUSE_NS);
  }

  @Test
  void looksAreFrequentForAWhile() {
    nowNs = START_NS + InlinePatience.CALM_NS - 1;
    assertEquals(PAUSE_NS, lookAt(false, 0));
    nowNs++;
    assertEquals(InlinePatience.LONG_PAUSE_NS, lookAt(false, 0));
  }

  @Test
  void looksAgainWhenTheTaskHasHadItsTime() {
    assertEquals(PAUSE_NS, lookAt(true, nowNs), "no later than without a task");
    assertEquals(PATIENCE_NS - 30_000, lookAt(true, nowNs - 30_000));
    assertEquals(20_000, lookAt(true, nowNs - PATIENCE_NS + 1), "not at once");
  }

  /** From whenever on the task runs between two looks. */
  private void assertTakes(long longestPauseNs) {
    for (long offsetNs = 0; offsetNs < longestPauseNs + SLACK_NS; offsetNs += 1_000) {
      final long lentNs = nowNs + offsetNs;
      long pauseNs = lookAt(false, 0);
      nowNs += pauseNs + SLACK_NS;
      while ((pauseNs = lookAt(nowNs >= lentNs, lentNs)) != TAKE) {
        nowNs += pauseNs + SLACK_NS;
      }
      final long ageNs = nowNs - lentNs;
      assertTrue(ageNs >= PATIENCE_NS, "" + ageNs);
      assertTrue(ageNs <= Math.max(PATIENCE_NS, longestPauseNs) + 2 * SLACK_NS, "" + ageNs);
    }
  }

  @Test
  void shortTasksOneAfterTheOtherLoseNothing() {
    for (int i = 0; i < 1_000; i++) {
      final long pauseNs = lookAt(true, nowNs - PATIENCE_NS + 1);
      assertTrue(pauseNs > 0, "pause " + pauseNs);
      nowNs += pauseNs + SLACK_NS;
    }
  }

  /** A collection, say, stops both: the poller gets time to go on. */
  @Test
  void whoWasLateHimselfLooksAgain() {
    final long lentNs = nowNs + 10_000;
    nowNs += lookAt(false, 0) + InlinePatience.LATE_NS;
    final long pauseNs = lookAt(true, lentNs);
    assertTrue(pauseNs > 0, "pause " + pauseNs);
    nowNs += pauseNs + InlinePatience.LATE_NS;
    assertEquals(TAKE, lookAt(true, lentNs));
  }

  @Test
  void whoWasLateLooksAgainForEachTask() {
    long lentNs = nowNs;
    for (int i = 0; i < 10; i++) {
      nowNs += 10_000_000;
      assertTrue(lookAt(true, lentNs) > 0);
      lentNs = nowNs;
    }
  }

  @Test
  void restsWhenAWindowHasBroughtLittle() {
    assertEquals(PAUSE_NS, watch.look(nowNs + InlinePatience.WINDOW_NS - 1, false, 0, 0));
    assertEquals(PAUSE_NS, watch.look(nowNs + InlinePatience.WINDOW_NS, false, 0, LEAST));
    assertEquals(REST, watch.look(nowNs + 2 * InlinePatience.WINDOW_NS, false, 0, 2 * LEAST - 1));
  }

  @Test
  void doesNotRestWhileATaskRuns() {
    final long lentNs = nowNs + 3 * InlinePatience.WINDOW_NS - 1_000;
    assertTrue(watch.look(nowNs + 3 * InlinePatience.WINDOW_NS, true, lentNs, 1) > 0);
  }

  @Test
  void countsAnewAfterARest() {
    watch.begin(nowNs + InlinePatience.WINDOW_NS, 100);
    assertEquals(PAUSE_NS, watch.look(nowNs + 2 * InlinePatience.WINDOW_NS - 1, false, 0, 100));
    assertEquals(REST, watch.look(nowNs + 2 * InlinePatience.WINDOW_NS, false, 0, 100 + LEAST - 1));
  }
}
