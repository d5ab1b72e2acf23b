package dev.ringfetch.examples.load;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * Calls that begin when they are due, at a fixed rate, by one thread that blocks in each: a call
 * that the one before delays counts from when it was due, so that no stall hides the calls that it
 * kept from being made.
 *
 * <p>The time that the system takes to wake a sleeping thread is not the peer's. A {@linkplain
 * #punctual() punctual} thread sleeps between calls but for the last {@value #SPIN_NS} ns, and uses
 * that much of a processor for each call, with any peer. A {@linkplain #sleeping() sleeping} thread
 * uses none: it wakes late, makes the calls that have become due one after the other, and counts
 * from when it woke.
 */
public final class OpenLoop {
  private static final long LONGEST_NS = TimeUnit.SECONDS.toNanos(60);
  private static final int DIGITS = 3;
  private static final long SPIN_NS = 60_000;
  private static final long SECOND_NS = TimeUnit.SECONDS.toNanos(1);

  private final Histogram latencies = new Histogram(LONGEST_NS, DIGITS);
  private final boolean punctual;
  private long wokeNs; // of one that sleeps only

  private OpenLoop(boolean punctual) {
    this.punctual = punctual;
  }

  /** Polls the clock for when a call is due. */
  public static OpenLoop punctual() {
    return new OpenLoop(true);
  }

  /** Sleeps until a call is due. */
  public static OpenLoop sleeping() {
    return new OpenLoop(false);
  }

  /**
   * Makes as many calls as are due in some time; in twice that time no more begin, however many are
   * late.
   *
   * @param rate how many are due in a second; 0: none at all.
   */
  public Figures runFor(Runnable call, int rate, long millis) {
    final long calls = rate == 0 ? 0 : Math.max(1, millis * rate / TimeUnit.SECONDS.toMillis(1));
    final long lengthNs = TimeUnit.MILLISECONDS.toNanos(millis);
    final long limitNs = 2 * lengthNs;
    latencies.reset();
    final long startNs = System.nanoTime();
    wokeNs = startNs;
    long endNs = startNs;
    for (long i = 0; i < calls && endNs - startNs < limitNs; i++) {
      final long dueNs = startNs + i * SECOND_NS / rate;
      await(dueNs);
      call.run();
      endNs = System.nanoTime();
      latencies.recordValue(Math.min(endNs - Math.max(dueNs, wokeNs), LONGEST_NS));
    }
    if (rate == 0) {
      await(startNs + lengthNs);
      endNs = System.nanoTime();
    }
    return Figures.of(latencies, endNs - startNs);
  }

  private void await(long dueNs) {
    long leftNs;
    while ((leftNs = dueNs - System.nanoTime()) > 0) {
      if (!punctual) {
        LockSupport.parkNanos(this, leftNs);
        wokeNs = System.nanoTime();
      } else if (leftNs > SPIN_NS) {
        LockSupport.parkNanos(this, leftNs - SPIN_NS);
      } else {
        Thread.onSpinWait();
      }
    }
  }

  /** What the last run took, in nanoseconds; the next one overwrites it. */
  public Histogram latencies() {
    return latencies;
  }
}
