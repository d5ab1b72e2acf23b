package dev.ringfetch.system;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Waits for conditions, under a deadline. */
public final class Await {
  private static final long INTERVAL_NS = TimeUnit.MICROSECONDS.toNanos(500);

  private Await() {}

  /** Waits until the condition holds, and returns how long that took, in milliseconds. */
  public static long until(String what, int seconds, Condition condition) throws Exception {
    final long startNs = System.nanoTime();
    final long limitNs = TimeUnit.SECONDS.toNanos(seconds);
    while (!condition.holds()) {
      if (System.nanoTime() - startNs > limitNs) {
        throw new AssertionError("not within " + seconds + " s: " + what);
      }
      LockSupport.parkNanos(INTERVAL_NS);
    }
    return millisSince(startNs);
  }

  public static long millisSince(long startNs) {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs);
  }

  /** What is waited for. */
  @FunctionalInterface
  public interface Condition {
    boolean holds() throws Exception;
  }
}
