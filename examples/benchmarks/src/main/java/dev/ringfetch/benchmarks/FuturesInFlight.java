package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.Figures;
import java.util.ArrayDeque;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.HdrHistogram.Histogram;

/**
 * Calls by a future stub, by one thread that keeps a fixed number in flight: it waits for the
 * oldest call, then issues another. A call ends when the thread has its answer in hand, so that a
 * call that overtakes others counts with them.
 */
final class FuturesInFlight<T> {
  private static final long LONGEST_NS = TimeUnit.SECONDS.toNanos(60);
  private static final int DIGITS = 3;
  private static final long PATIENCE_MILLIS = TimeUnit.SECONDS.toMillis(30);

  private final Supplier<? extends Future<T>> call;
  private final Predicate<T> expected;
  private final Histogram latencies = new Histogram(LONGEST_NS, DIGITS);

  /**
   * Creates them.
   *
   * @param call issues one.
   * @param expected whether an answer is the right one.
   */
  FuturesInFlight(Supplier<? extends Future<T>> call, Predicate<T> expected) {
    this.call = call;
    this.expected = expected;
  }

  /** A call on its way. */
  private record Issued<T>(Future<T> answer, long atNs) {}

  /**
   * Issues calls for some time, and waits until all have ended.
   *
   * @param limit how many are on their way at once; at least so many are issued.
   * @throws IllegalStateException if a call fails, has a wrong answer, or does not end.
   */
  Figures runFor(int limit, long millis) throws InterruptedException {
    final ArrayDeque<Issued<T>> issued = new ArrayDeque<>(limit);
    final long lengthNs = TimeUnit.MILLISECONDS.toNanos(millis);
    latencies.reset();
    final long startNs = System.nanoTime();
    long nowNs = startNs;
    for (int i = 0; i < limit; i++) {
      issued.add(new Issued<>(call.get(), System.nanoTime()));
    }
    while (!issued.isEmpty()) {
      final Issued<T> oldest = issued.remove();
      await(oldest.answer);
      nowNs = System.nanoTime();
      latencies.recordValue(Math.min(nowNs - oldest.atNs, LONGEST_NS));
      if (nowNs - startNs < lengthNs) {
        issued.add(new Issued<>(call.get(), nowNs));
      }
    }
    return Figures.of(latencies, nowNs - startNs);
  }

  private void await(Future<T> answer) throws InterruptedException {
    if (!expected.test(CallEnd.await(answer, PATIENCE_MILLIS))) {
      throw new IllegalStateException("not what was asked");
    }
  }

  /** What the last run took, in nanoseconds; the next one overwrites it. */
  Histogram latencies() {
    return latencies;
  }
}
