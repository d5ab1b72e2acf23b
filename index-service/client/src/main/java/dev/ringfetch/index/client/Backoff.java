package dev.ringfetch.index.client;

import java.util.concurrent.ThreadLocalRandom;

/**
 * The pauses between attempts: twice as long each time, up to a limit. Each is drawn from the upper
 * half of its length, so that clients of one server do not come together. Used by one thread at a
 * time.
 */
final class Backoff {
  private final long minNs;
  private final long maxNs;
  private long pauseNs;

  /** Creates it, with the first pause and the longest one. */
  Backoff(long minNs, long maxNs) {
    this.minNs = minNs;
    this.maxNs = maxNs;
    pauseNs = minNs;
  }

  /** Length of the next pause in nanoseconds. */
  long nextNs() {
    final long drawnNs = pauseNs / 2 + ThreadLocalRandom.current().nextLong(pauseNs / 2 + 1);
    pauseNs = Math.min(2 * pauseNs, maxNs);
    return drawnNs;
  }

  /** Begins with the first pause again. */
  void reset() {
    pauseNs = minNs;
  }
}
