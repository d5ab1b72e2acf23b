package dev.ringfetch.session.poller;

import static dev.ringfetch.session.poller.SpinLimit.CALM_NS;
import static dev.ringfetch.session.poller.SpinLimit.MAX_HALVINGS;
import static dev.ringfetch.session.poller.SpinLimit.MAX_PAUSE_NS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How losses of the processor limit the spin time, and how it comes back. */
class SpinLimitTest {
  private static final long SPIN_NS = 50_000;
  private static final long START_NS = Long.MAX_VALUE - CALM_NS; // readings pass the overflow

  private final SpinLimit limit = new SpinLimit(SPIN_NS);
  private long nowNs = START_NS;

  private void lose() {
    limit.onPreempted(nowNs);
  }

  private long after(long passedNs) {
    nowNs += passedNs;
    return limit.ns(nowNs);
  }

  /** A script of losses (x) and calm seconds (s), and the limit behind it, in nanoseconds. */
  record Row(String script, long limitNs) {}

  static Stream<Row> table() {
    return Stream.of(
        new Row("", SPIN_NS),
        new Row("sss", SPIN_NS),
        new Row("x", SPIN_NS / 2),
        new Row("xx", SPIN_NS / 4),
        new Row("xxx", 0),
        new Row("xxxx", 0),
        new Row("xs", SPIN_NS),
        new Row("xxs", SPIN_NS / 2),
        new Row("xxxs", SPIN_NS / 4),
        new Row("xxxss", SPIN_NS / 2),
        new Row("xxxsss", SPIN_NS),
        new Row("xxxxxsss", SPIN_NS),
        new Row("xxxsx", 0),
        new Row("xxxsxs", 0), // the second attempt comes after two seconds
        new Row("xxxsxss", SPIN_NS / 4),
        new Row("xxxsxssxsss", 0), // the third after four
        new Row("xxxsxssxssss", SPIN_NS / 4),
        new Row("xxxsxsss", SPIN_NS / 2), // an attempt that has succeeded is followed at once
        new Row("xxxsxsssxs", SPIN_NS / 4), // a failure of the next one doubles the pause again
        new Row("xsx", SPIN_NS / 2),
        new Row("xssxs", SPIN_NS)); // that loss was of no attempt
  }

  @ParameterizedTest
  @MethodSource("table")
  void limitFollowsLossesAndCalm(Row row) {
    row.script()
        .chars()
        .forEach(
            step -> {
              if (step == 'x') {
                lose();
              } else {
                after(CALM_NS);
              }
            });
    assertEquals(row.limitNs(), limit.ns());
  }

  @Test
  void calmLastsForAWholeSecondSinceTheLastLoss() {
    lose();
    assertEquals(SPIN_NS / 2, after(CALM_NS - 1));
    lose();
    assertEquals(SPIN_NS / 4, after(CALM_NS - 1));
    assertEquals(SPIN_NS / 2, after(1));
    assertEquals(SPIN_NS / 2, after(CALM_NS - 1));
    assertEquals(SPIN_NS, after(1));
  }

  @Test
  void failedAttemptsAreAtMostHalfAMinuteApart() {
    for (int i = 0; i < MAX_HALVINGS; i++) {
      lose();
    }
    long pauseNs = CALM_NS;
    for (int attempts = 0; attempts < 10; attempts++) {
      assertEquals(0, after(pauseNs - 1), "attempts=" + attempts);
      assertEquals(SPIN_NS / 4, after(1), "attempts=" + attempts);
      lose();
      pauseNs = Math.min(2 * pauseNs, MAX_PAUSE_NS);
    }
    assertEquals(MAX_PAUSE_NS, pauseNs);
  }

  @Test
  void attemptThatSucceedsEndsTheLongPauses() {
    for (int i = 0; i < MAX_HALVINGS; i++) {
      lose();
    }
    after(CALM_NS);
    lose();
    after(2 * CALM_NS);
    after(CALM_NS);
    after(CALM_NS);
    assertEquals(SPIN_NS, after(CALM_NS));
    lose();
    assertEquals(SPIN_NS, after(CALM_NS));
  }

  @Test
  void lossesAreCountedByTheirReason() {
    lose();
    lose();
    limit.onThrottled(nowNs);
    assertEquals(2, limit.preempted());
    assertEquals(1, limit.throttled());
    assertEquals(0, limit.ns());
  }

  /** Whatever happens, and however long it lasts: see the assertions. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void randomHistoriesKeepTheRules(long seed) {
    final Random random = new Random(seed);
    long before = limit.ns();
    long lostNs = nowNs - 2 * MAX_PAUSE_NS;
    for (int i = 0; i < 20_000; i++) {
      if (random.nextInt(4) == 0) {
        lose();
        lostNs = nowNs;
        assertTrue(limit.ns() <= before / 2, "a loss halves it at least");
      } else {
        final long limitNs = after((long) (CALM_NS * random.nextDouble() * 3));
        if (limitNs > before) {
          assertTrue(nowNs - lostNs >= CALM_NS, "a calm second is over");
          assertTrue(limitNs <= Math.max(2 * before, SPIN_NS / 4), "once at a time");
        }
      }
      before = limit.ns();
      assertTrue(before >= 0 && before <= SPIN_NS);
    }
    for (int i = 0; i < MAX_HALVINGS; i++) {
      after(MAX_PAUSE_NS);
    }
    assertEquals(SPIN_NS, limit.ns(), "at last it is whole again");
  }
}
