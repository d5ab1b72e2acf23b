package dev.ringfetch.examples.cluster;

import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;

/** The latencies of operations of one kind: since the last look, and in all. Thread-safe. */
final class Measured {
  private static final long LONGEST_NS = TimeUnit.MINUTES.toNanos(10);
  private static final int DIGITS = 3;

  private final Recorder recorder = new Recorder(LONGEST_NS, DIGITS);
  private final Histogram total = new Histogram(LONGEST_NS, DIGITS); // guarded by this

  /** Records an operation that began at a time and ends now. */
  void ended(long beginNs) {
    recorder.recordValue(Math.min(LONGEST_NS, System.nanoTime() - beginNs));
  }

  /** Takes those since the last look. */
  synchronized Histogram take() {
    final Histogram since = recorder.getIntervalHistogram();
    total.add(since);
    return since;
  }

  /** All until now, in nanoseconds. */
  synchronized Histogram total() {
    final var unused = take();
    return total.copy();
  }
}
