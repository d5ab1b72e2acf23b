package dev.ringfetch.benchmarks.replicated;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** A wait of bounded length for something that other processes do. */
final class Wait {
  private static final int SECONDS = 90;
  private static final int POLL_MILLIS = 20;

  private Wait() {}

  /**
   * Waits.
   *
   * @param complaint for the exception, if that takes too long
   */
  static void until(String complaint, BooleanSupplier done) throws IOException {
    final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
    while (!done.getAsBoolean()) {
      if (System.nanoTime() - endNs > 0) {
        throw new IOException(complaint + " within " + SECONDS + " s");
      }
      try {
        TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException("interrupted", e);
      }
    }
  }
}
