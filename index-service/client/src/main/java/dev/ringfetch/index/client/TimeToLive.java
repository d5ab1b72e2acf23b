package dev.ringfetch.index.client;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;

/** The time to live of an entry in requests: milliseconds from its write on; 0 means for ever. */
final class TimeToLive {
  /** The entry stays until it is removed. */
  static final long NONE = 0;

  /** The entry keeps the deadline of the one that it replaces; requests have a field for this. */
  static final long KEPT = -1;

  private TimeToLive() {}

  /**
   * A deadline in milliseconds since 1970, rounded up; at least 1. The server checks the upper
   * limit.
   */
  static long deadline(Instant deadline) {
    try {
      final long millis = deadline.plusNanos(999_999).toEpochMilli();
      return Math.max(1, millis);
    } catch (ArithmeticException | DateTimeException e) { // beyond 292 million years
      return deadline.getEpochSecond() < 0 ? 1 : Long.MAX_VALUE;
    }
  }

  /**
   * The milliseconds of a duration, rounded up. The server checks the upper limit.
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
