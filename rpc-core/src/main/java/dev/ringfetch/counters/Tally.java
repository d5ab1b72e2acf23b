package dev.ringfetch.counters;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Counters of one subject, each with one writer at a time. Counting is a load, an addition and a
 * store: what makes one writer follow another (the token of a session, a thread that is the only
 * one) makes their additions follow one another. Any thread may read.
 *
 * <p>The counters of a subject stand together, since one thread writes them together, and a line
 * away from those of any other.
 */
public final class Tally {
  private static final VarHandle VALUES = MethodHandles.arrayElementVarHandle(long[].class);

  /** Two lines, in longs: neighbouring lines are loaded in pairs. */
  private static final int PADDING = 16;

  private final Kind kind;
  private final long[] values;

  /** All zero. */
  public Tally(Kind kind) {
    this.kind = kind;
    this.values = new long[PADDING + kind.counters().size() + PADDING];
  }

  /** Adds to a counter. One thread at a time. */
  public void add(Counter counter, long count) {
    final int index = index(counter);
    VALUES.setOpaque(values, index, (long) VALUES.getOpaque(values, index) + count);
  }

  /** Sets a counter. One thread at a time. */
  public void set(Counter counter, long value) {
    VALUES.setOpaque(values, index(counter), value);
  }

  /** What a counter is at. */
  public long get(Counter counter) {
    return (long) VALUES.getOpaque(values, index(counter));
  }

  private int index(Counter counter) {
    assert counter.kind() == kind : counter;
    return PADDING + counter.index();
  }
}
