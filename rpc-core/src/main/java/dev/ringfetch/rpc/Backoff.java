package dev.ringfetch.rpc;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * When to try again: after a pause that doubles from 100 ms, with a quarter of jitter. Not
 * thread-safe.
 */
final class Backoff {
  /** Longest pause, in nanoseconds. */
  static final long MAX_NS = TimeUnit.SECONDS.toNanos(30);

  private static final long MIN_NS = TimeUnit.MILLISECONDS.toNanos(100);

  private long retryAtNs = System.nanoTime();
  private long pauseNs = MIN_NS;

  /** How long it is until the next try, in nanoseconds; not positive when it may be made. */
  long remainingNs() {
    return retryAtNs - System.nanoTime();
  }

  /** A try has failed. */
  void failed(long maxNs) {
    pauseNs = Math.min(pauseNs, maxNs);
    retryAtNs = System.nanoTime() + pauseNs + ThreadLocalRandom.current().nextLong(pauseNs / 4 + 1);
    pauseNs *= 2;
  }

  /** A try has succeeded: the pause after the next failure is short. */
  void succeeded() {
    pauseNs = MIN_NS;
  }

  /** Lets the next try be made at once, however often others have failed. */
  void skip() {
    retryAtNs = System.nanoTime();
  }
}
