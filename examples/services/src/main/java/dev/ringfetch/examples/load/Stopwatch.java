package dev.ringfetch.examples.load;

import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** A stopwatch for calls: times them one after the other on the calling thread. */
public final class Stopwatch {
  private static final long LONGEST_NS = TimeUnit.SECONDS.toNanos(60);
  private static final int DIGITS = 3;

  private final Histogram latencies = new Histogram(LONGEST_NS, DIGITS);

  /** What the last run took, in nanoseconds; the next one overwrites it. */
  public Histogram latencies() {
    return latencies;
  }

  /** Times some calls. */
  public Figures run(Runnable call, long calls) {
    return run(call, calls, TimeUnit.NANOSECONDS.toMillis(Long.MAX_VALUE));
  }

  /** Times calls for some time. */
  public Figures runFor(Runnable call, long millis) {
    return run(call, Long.MAX_VALUE, millis);
  }

  /** Times a number of calls, or those of some time. */
  public Figures run(Runnable call, long calls, long millis) {
    final long lengthNs = TimeUnit.MILLISECONDS.toNanos(millis);
    latencies.reset();
    final long startNs = System.nanoTime();
    long beforeNs = startNs;
    for (long done = 0; done < calls && beforeNs - startNs < lengthNs; done++) {
      call.run();
      final long afterNs = System.nanoTime();
      latencies.recordValue(Math.min(afterNs - beforeNs, LONGEST_NS));
      beforeNs = afterNs;
    }
    return Figures.of(latencies, beforeNs - startNs);
  }
}
