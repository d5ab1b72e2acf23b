package dev.ringfetch.benchmarks.memory;

import dev.ringfetch.examples.process.Answer;
import java.util.concurrent.TimeUnit;

/** The time of an operation: the mean over some milliseconds. */
final class Measured {
  private static final int BATCH = 100; // operations between two looks at the clock

  private Measured() {}

  /** Repeats an operation for some milliseconds. */
  static Answer operations(long millis, Runnable operation) {
    final long limitNs = TimeUnit.MILLISECONDS.toNanos(millis);
    final long startNs = System.nanoTime();
    long count = 0;
    long nowNs;
    do {
      for (int i = 0; i < BATCH; i++) {
        operation.run();
      }
      count += BATCH;
      nowNs = System.nanoTime();
    } while (nowNs - startNs < limitNs);
    return new Answer().with("ns", (double) (nowNs - startNs) / count);
  }
}
