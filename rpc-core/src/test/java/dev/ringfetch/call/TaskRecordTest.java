package dev.ringfetch.call;

import static dev.ringfetch.call.TaskRecord.DOUBTS;
import static dev.ringfetch.call.TaskRecord.LONG;
import static dev.ringfetch.call.TaskRecord.LONG_DOUBTS;
import static dev.ringfetch.call.TaskRecord.LONG_PENALTY;
import static dev.ringfetch.call.TaskRecord.MAX_CREDIT;
import static dev.ringfetch.call.TaskRecord.PENALTY;
import static dev.ringfetch.call.TaskRecord.RUNS_DEFAULT;
import static dev.ringfetch.call.TaskRecord.SHORT_NS_DEFAULT;
import static dev.ringfetch.call.TaskRecord.STALL_PENALTY;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.session.poller.ProcessorTime;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** By what a method earns that its calls run in the poller's thread, and loses it. */
class TaskRecordTest {
  private static final long SHORT_NS = SHORT_NS_DEFAULT;
  private static final long LONG_NS = LONG * SHORT_NS;

  private long nowNs = -7;
  private final TaskRecord record = new TaskRecord(() -> nowNs, RUNS_DEFAULT, SHORT_NS_DEFAULT);

  private void runElsewhere(int runs, long durationNs) {
    for (int i = 0; i < runs; i++) {
      record.ranElsewhere(durationNs, durationNs, 1);
    }
  }

  private void runInline(int runs, long durationNs) {
    for (int i = 0; i < runs; i++) {
      record.ranInline(durationNs, durationNs, 1);
    }
  }

  /** Short runs that it takes to be trusted, from here on. */
  private int runsToTrust() {
    int runs = 0;
    while (!record.isTrusted()) {
      record.ranElsewhere(SHORT_NS, SHORT_NS, 1);
      runs++;
    }
    return runs;
  }

  @Test
  void nothingIsTrustedUnseen() {
    assertFalse(record.isTrusted());
    runElsewhere(RUNS_DEFAULT - 1, SHORT_NS);
    assertFalse(record.isTrusted());
    runElsewhere(1, SHORT_NS);
    assertTrue(record.isTrusted());
  }

  @Test
  void longerRunsCountDownButNotBelowNothing() {
    runElsewhere(100, SHORT_NS + 1);
    runElsewhere(RUNS_DEFAULT - 1, SHORT_NS);
    runElsewhere(1, SHORT_NS + 1);
    runElsewhere(PENALTY, SHORT_NS);
    assertFalse(record.isTrusted());
    runElsewhere(1, SHORT_NS);
    assertTrue(record.isTrusted());
  }

  @Test
  void methodThatIsLongerOnceInAFewRunsIsNeverTrusted() {
    for (int i = 0; i < 10_000; i++) {
      runElsewhere(PENALTY - 1, SHORT_NS);
      runElsewhere(1, SHORT_NS + 1);
      assertFalse(record.isTrusted());
    }
  }

  @Test
  void oneLongRunIsForgivenTwoAreNot() {
    runsToTrust();
    runInline(1, LONG_NS + 1);
    assertTrue(record.isTrusted());
    runInline(MAX_CREDIT, SHORT_NS);
    runInline(1, LONG_NS + 1);
    assertTrue(record.isTrusted());
    runInline(2 * LONG_PENALTY - MAX_CREDIT - 1, SHORT_NS);
    runInline(1, LONG_NS + 1);
    assertFalse(record.isTrusted());
  }

  @Test
  void methodThatGrowsLongerLosesTheTrust() {
    runsToTrust();
    runInline(MAX_CREDIT / PENALTY, SHORT_NS + 1);
    assertTrue(record.isTrusted());
    runInline(1, SHORT_NS + 1);
    assertFalse(record.isTrusted());
  }

  @Test
  void methodThatWaitsLosesTheTrustAtOnce() {
    runsToTrust();
    record.overran(true);
    assertFalse(record.isTrusted());
  }

  @Test
  void runsThatAreSlowForTheBackupThreadAreForgivenSomeTimes() {
    runsToTrust();
    for (int i = 0; i < MAX_CREDIT / PENALTY; i++) {
      record.overran(false);
    }
    assertTrue(record.isTrusted());
    record.overran(false);
    assertFalse(record.isTrusted());
  }

  /** A thread loses its processor now and then on a busy machine. */
  @Test
  void runsWithoutAProcessorAreForgiven() {
    for (int i = 0; i < RUNS_DEFAULT; i++) {
      record.ranElsewhere(LONG_NS, SHORT_NS, 1);
      runElsewhere(2 * STALL_PENALTY, SHORT_NS);
    }
    assertTrue(record.isTrusted());
    for (int i = 0; i < 10_000; i++) {
      record.ranInline(1_000 * LONG_NS, i % 2 == 0 ? SHORT_NS : ProcessorTime.UNKNOWN, 1);
      runInline(2 * STALL_PENALTY, SHORT_NS);
    }
    assertTrue(record.isTrusted());
  }

  @Test
  void methodThatWaitsEachTimeIsNotTrusted() {
    for (int i = 0; i < 10_000; i++) {
      record.ranElsewhere(SHORT_NS + 1, 1, 1);
    }
    assertEquals(RUNS_DEFAULT, runsToTrust());
    for (int i = 0; i < MAX_CREDIT / STALL_PENALTY; i++) {
      record.ranInline(SHORT_NS + 1, 1, 1);
    }
    assertTrue(record.isTrusted());
    record.ranInline(SHORT_NS + 1, 1, 1);
    assertFalse(record.isTrusted());
  }

  @Test
  void processorTimeIsMeasuredForAWhileAfterALongRun() {
    runsToTrust();
    assertFalse(record.isDoubtful());
    record.ranInline(SHORT_NS + 1, ProcessorTime.UNKNOWN, 1);
    for (int i = 0; i < DOUBTS; i++) {
      assertTrue(record.isDoubtful());
      runInline(1, SHORT_NS);
    }
    assertFalse(record.isDoubtful());
    record.overran(false);
    runInline(1, SHORT_NS + 1); // measured, and no reason to measure fewer
    runInline(LONG_DOUBTS - 1, SHORT_NS);
    assertTrue(record.isDoubtful());
    runInline(1, SHORT_NS);
    assertFalse(record.isDoubtful());
  }

  /** Each time the backup thread takes the poller over, and the verdict follows when it ends. */
  @Test
  void methodThatIsVeryLongNowAndThenLosesTheTrust() {
    runsToTrust();
    int takeovers = 0;
    while (record.isTrusted() && takeovers < 100) {
      runInline(DOUBTS + 5, SHORT_NS);
      final boolean measured = record.isDoubtful();
      record.overran(false);
      takeovers++;
      if (measured) {
        record.ranInline(100 * LONG_NS, 100 * LONG_NS, 1);
      }
    }
    assertEquals(3, takeovers);
  }

  @Test
  void trustThatWasLostIsDearer() {
    int needed = RUNS_DEFAULT;
    for (int i = 0; i < 12; i++) {
      assertEquals(needed, runsToTrust());
      record.overran(true);
      needed = Math.min(2 * needed, RUNS_DEFAULT << 10);
    }
    nowNs += 4 * TaskRecord.HALVING_NS;
    runsToTrust();
    record.overran(true);
    assertEquals(RUNS_DEFAULT << (10 - 4 + 1), runsToTrust());
    nowNs += TimeUnit.HOURS.toNanos(1);
    record.overran(true);
    assertEquals(RUNS_DEFAULT << 1, runsToTrust());
  }

  /** Of those that were handed over before. */
  @Test
  void runsElsewhereDoNotShakeTheTrust() {
    runsToTrust();
    runElsewhere(1_000, LONG_NS);
    assertTrue(record.isTrusted());
  }

  @Test
  void whatRunsOnWithoutTrustLosesNothingTwice() {
    runsToTrust();
    record.overran(true);
    runInline(10, LONG_NS + 1);
    record.overran(true);
    runInline(RUNS_DEFAULT, SHORT_NS);
    assertEquals(2 * RUNS_DEFAULT, runsToTrust());
  }

  /** Of a stream, whose messages were delivered one after the other. */
  @Test
  void runOfManyPartsIsAsLongAsOneOfThem() {
    for (int i = 0; i < RUNS_DEFAULT; i++) {
      record.ranElsewhere(5 * SHORT_NS, 5 * SHORT_NS, 5);
    }
    assertTrue(record.isTrusted());
    for (int i = 0; i < MAX_CREDIT; i++) {
      record.ranInline(7 * LONG_NS, 7 * SHORT_NS, 70);
    }
    assertTrue(record.isTrusted());
    record.ranInline(100 * LONG_NS + 100, 100 * LONG_NS + 100, 100);
    record.ranInline(100 * LONG_NS + 100, 100 * LONG_NS + 100, 100);
    assertFalse(record.isTrusted());
  }
}
