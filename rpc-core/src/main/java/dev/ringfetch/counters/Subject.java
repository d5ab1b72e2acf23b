package dev.ringfetch.counters;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ToLongFunction;

/**
 * A channel, server, session or poller with listed counters. Immutable.
 *
 * @param serial number that no other subject of the process has.
 * @param label name for people.
 * @param values value of each counter. Any thread.
 */
public record Subject(Kind kind, long serial, String label, ToLongFunction<Counter> values) {
  private static final AtomicLong SERIALS = new AtomicLong();

  Subject(Kind kind, String label, ToLongFunction<Counter> values) {
    this(kind, SERIALS.incrementAndGet(), label, values);
  }

  /** Returns the value of a counter. */
  public long value(Counter counter) {
    return values.applyAsLong(counter);
  }
}
