package dev.ringfetch.session.poller;

import static dev.ringfetch.session.poller.SpinPace.LOSS_NS;
import static dev.ringfetch.session.poller.SpinPace.OLD_NS;
import static dev.ringfetch.session.poller.SpinPace.READ_INTERVAL_NS;
import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** What a polling thread takes for a loss of its processor. */
class SpinLossTest {
  private static final long SPIN_NS = 50_000;

  private final SpinLimit limit = new SpinLimit(SPIN_NS);
  private final SpinPace pace = new SpinPace(SPIN_NS, limit, this::read);
  private long nowNs = 1;
  private SchedStat counts = new SchedStat(0, 0, 0);
  private int readings;

  private SchedStat read() {
    readings++;
    return counts;
  }

  /** The thread polls, and reads the clock again after a gap, for part of which it was ready. */
  private void gap(long gapNs, long delayNs) {
    pace.onLook(nowNs, false);
    nowNs += gapNs;
    if (counts != null) {
      counts =
          new SchedStat(counts.runDelayNs() + delayNs, counts.slices() + 1, counts.throttled());
    }
    pace.onLook(nowNs, true);
  }

  private long preempted() {
    return limit.preempted();
  }

  @Test
  void gapWithoutAProcessorIsALoss() {
    gap(LOSS_NS, LOSS_NS);
    assertEquals(0, preempted(), "nothing to compare it with");
    gap(LOSS_NS, LOSS_NS / 2);
    assertEquals(1, preempted());
    assertEquals(SPIN_NS / 2, pace.boundNs(nowNs));
  }

  @Test
  void pauseOfTheJvmIsNoLoss() {
    gap(LOSS_NS, LOSS_NS);
    gap(100 * LOSS_NS, 50 * LOSS_NS - 1);
    assertEquals(0, preempted());
    assertEquals(SPIN_NS, pace.boundNs(nowNs));
  }

  @Test
  void shortGapIsNotLookedInto() {
    gap(LOSS_NS - 1, LOSS_NS);
    assertEquals(0, readings);
  }

  @Test
  void timeInWhichTheThreadDidSomethingElseIsNoGap() {
    pace.onLook(nowNs, true);
    nowNs += LOSS_NS;
    pace.onLook(nowNs, false);
    assertEquals(0, readings);
  }

  @Test
  void countsOfAnotherThreadAreNotCompared() throws InterruptedException {
    gap(LOSS_NS, LOSS_NS);
    final Thread other = new Thread(() -> gap(LOSS_NS, LOSS_NS));
    other.start();
    other.join();
    assertEquals(0, preempted());
  }

  @Test
  void oldCountsAreNotCompared() {
    gap(LOSS_NS, LOSS_NS);
    nowNs += OLD_NS;
    gap(LOSS_NS, LOSS_NS);
    assertEquals(0, preempted());
    gap(LOSS_NS, LOSS_NS);
    assertEquals(1, preempted());
  }

  @Test
  void withoutCountsEachGapIsALoss() {
    counts = null;
    gap(LOSS_NS, 0);
    assertEquals(1, preempted());
    pace.onInterval(nowNs += READ_INTERVAL_NS);
    assertEquals(1, preempted(), "there was no gap");
  }

  @Test
  void periodWithoutQuotaIsALossOfItsOwnKind() {
    gap(LOSS_NS, 0);
    counts = new SchedStat(counts.runDelayNs(), counts.slices(), 1);
    gap(LOSS_NS, LOSS_NS);
    assertEquals(1, limit.throttled());
    assertEquals(0, preempted());
  }

  /** A thread that sleeps more than it polls has few gaps. */
  @Test
  void longWaitsForAProcessorAreALossWithoutAGap() {
    nowNs += READ_INTERVAL_NS;
    pace.onInterval(nowNs);
    nowNs += READ_INTERVAL_NS;
    counts = new SchedStat(10 * LOSS_NS - 1, 10, 0);
    pace.onInterval(nowNs);
    assertEquals(0, preempted(), "on average they are short");
    nowNs += READ_INTERVAL_NS;
    counts = new SchedStat(counts.runDelayNs() + 10 * LOSS_NS, 20, 0);
    pace.onInterval(nowNs);
    assertEquals(1, preempted());
  }

  @Test
  void countsAreReadAFewTimesASecond() {
    for (int i = 0; i < 1_000; i++) {
      pace.onInterval(nowNs += READ_INTERVAL_NS / 100);
    }
    assertEquals(10, readings);
  }

  @Test
  void nothingIsReadWithoutATimeToPoll() {
    final SpinPace none = new SpinPace(0, new SpinLimit(0), this::read);
    none.onInterval(nowNs += READ_INTERVAL_NS);
    none.onLook(nowNs += LOSS_NS, true);
    assertEquals(0, readings);
  }

  @Test
  void nothingIsLostByAClockOfAnotherWorld() {
    final SpinPace simulated = new SpinPace(SPIN_NS, limit, null);
    simulated.onLook(nowNs, false);
    simulated.onLook(nowNs += LOSS_NS, true);
    simulated.onInterval(nowNs += READ_INTERVAL_NS);
    assertEquals(0, preempted());
  }
}
