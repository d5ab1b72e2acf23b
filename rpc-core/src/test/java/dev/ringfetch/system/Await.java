package dev.ringfetch.system;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Waits for conditions and latches, under a deadline. */
public final class Await {
  private static final long INTERVAL_NS = TimeUnit.MICROSECONDS.toNanos(500);

  /** More than a busy machine takes. */
  private static final int LIMIT_S = 30;

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

  /** Waits until the condition holds. */
  public static long until(String what, Condition condition) throws Exception {
    return until(what, LIMIT_S, condition);
  }

  /** Waits until the latch is down. */
  public static void latch(CountDownLatch latch) {
    try {
      if (!latch.await(LIMIT_S, TimeUnit.SECONDS)) {
        throw new AssertionError("not within " + LIMIT_S + " s: " + latch);
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
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
