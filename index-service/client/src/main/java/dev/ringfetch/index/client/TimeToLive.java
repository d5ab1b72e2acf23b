package dev.ringfetch.index.client;

import java.time.Duration;
import java.util.Objects;

/** How long an entry is there after its write, as requests say it: in milliseconds, 0 for ever. */
final class TimeToLive {
  /** The entry stays until it is removed. */
  static final long NONE = 0;

  /** The entry ends when the one that it replaces would; in requests, a field of its own. */
  static final long KEPT = -1;

  private TimeToLive() {}

  /**
   * The milliseconds of a duration, rounded up. Whether it is too long, the server says.
   *
   * @throws IllegalArgumentException unless it is longer than 0.
   */
  static long millis(Duration ttl) {
    if (Objects.requireNonNull(ttl, "ttl").isNegative() || ttl.isZero()) {
      throw new IllegalArgumentException("not longer than 0: ttl=" + ttl);
    }
    try {
      final Duration rest = ttl.minusMillis(ttl.toMillis());
      return ttl.toMillis() + (rest.isZero() ? 0 : 1);
    } catch (ArithmeticException e) { // of more than 292 million years
      return Long.MAX_VALUE;
    }
  }
}
