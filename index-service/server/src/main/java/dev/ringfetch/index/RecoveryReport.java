package dev.ringfetch.index;

import dev.ringfetch.index.service.IndexMemoryContext;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The report of a recovery to an operator: one line for each second of it.
 *
 * <p>Used by one thread.
 */
final class RecoveryReport implements IndexMemoryContext.RecoveryListener {
  private static final long PERIOD_NS = TimeUnit.SECONDS.toNanos(1);
  private static final int MEBIBYTE = 1 << 20;

  private final PrintWriter out;
  private final LongSupplier clock;
  private long lastNs;

  /**
   * Creates a report.
   *
   * @param clock nanoseconds since some moment
   */
  RecoveryReport(PrintWriter out, LongSupplier clock) {
    this.out = out;
    this.clock = clock;
    lastNs = clock.getAsLong();
  }

  @Override
  public void onProgress(long bytes, long total, long records) {
    final long nowNs = clock.getAsLong();
    if (nowNs - lastNs < PERIOD_NS) {
      return;
    }
    lastNs = nowNs;
    out.println(
        String.format(
            Locale.ROOT,
            "recovering: %d %% of %d MiB, %.1f M records",
            bytes * 100 / Math.max(1, total),
            total / MEBIBYTE,
            records / 1e6));
    out.flush();
  }
}
