package dev.ringfetch.counters;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

/** An object with listed counters: a channel, backend, server, session or poller. */
public final class Subject {
  private static final AtomicLong SERIALS = new AtomicLong();

  private final Kind kind;
  private final long serial = SERIALS.incrementAndGet();
  private final Supplier<String> label;
  private final Supplier<String> detail;
  private final ToLongFunction<Counter> values;

  Subject(
      Kind kind, Supplier<String> label, Supplier<String> detail, ToLongFunction<Counter> values) {
    this.kind = kind;
    this.label = label;
    this.detail = detail;
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
    return label.get();
  }

  /** Its present condition in one line, for people; empty if its counters say all. */
  public String detail() {
    return detail.get();
  }

  /** What one of its counters is at. Any thread. */
  public long value(Counter counter) {
    return values.applyAsLong(counter);
  }
}
