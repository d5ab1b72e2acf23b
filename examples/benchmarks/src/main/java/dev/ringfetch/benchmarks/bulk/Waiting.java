package dev.ringfetch.benchmarks.bulk;

import java.util.concurrent.TimeUnit;

/** A wait for the other process with a time limit: spins, and yields now and then. */
final class Waiting {
  private static final int SPINS = 1000;

  private final long startNs = System.nanoTime();
  private int spun;

  /** Looks at nothing for a moment. */
  @SuppressWarnings("ThreadPriorityCheck") // the other process may need this processor
  void pause() {
    if (++spun < SPINS) {
      Thread.onSpinWait();
      return;
    }
    spun = 0;
    Thread.yield();
    if (System.nanoTime() - startNs > TimeUnit.SECONDS.toNanos(Upload.PATIENCE_SECONDS)) {
      throw new IllegalStateException("the other process does nothing");
    }
  }
}
