package dev.ringfetch.counters;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ToLongFunction;

/** A channel, server, session or poller with listed counters. Immutable. */
public final class Subject {
  private static final AtomicLong SERIALS = new AtomicLong();

  private final Kind kind;
  private final long serial = SERIALS.incrementAndGet();
  private final String label;
  private final ToLongFunction<Counter> values;

  Subject(Kind kind, String label, ToLongFunction<Counter> values) {
    this.kind = kind;
    this.label = label;
    this.values = values;
  }

  /** What it is. */
  public Kind kind() {
    return kind;
  }

  /** Its number: no two subjects of a process have the same. */
  public long serial() {
    return serial;
  }

  /** Its name, for people. */
  public String label() {
    return label;
  }

  /** What one of its counters is at. Any thread. */
  public long value(Counter counter) {
    return values.applyAsLong(counter);
  }
}
