package dev.ringfetch.rpc;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * The pause between attempts: doubles from 100 ms with each failure, with a quarter of jitter. Not
 * thread-safe.
 */
final class Backoff {
  /** Longest pause, in nanoseconds. */
  static final long MAX_NS = TimeUnit.SECONDS.toNanos(30);

  private static final long MIN_NS = TimeUnit.MILLISECONDS.toNanos(100);

  private long retryAtNs = System.nanoTime();
  private long pauseNs = MIN_NS;

  /** Nanoseconds until the next attempt may be made; not positive when it may be made now. */
  long remainingNs() {
    return retryAtNs - System.nanoTime();
  }

  /** Called when an attempt has failed. */
  void failed(long maxNs) {
    pauseNs = Math.min(pauseNs, maxNs);
    retryAtNs = System.nanoTime() + pauseNs + ThreadLocalRandom.current().nextLong(pauseNs / 4 + 1);
    pauseNs *= 2;
  }

  /** Called when an attempt has succeeded: the pause after the next failure is short. */
  void succeeded() {
    pauseNs = MIN_NS;
  }

  /** Allows the next attempt at once, however many have failed. */
  void skip() {
    retryAtNs = System.nanoTime();
  }
}
