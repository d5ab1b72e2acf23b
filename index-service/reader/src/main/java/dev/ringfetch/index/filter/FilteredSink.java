package dev.ringfetch.index.filter;

import dev.ringfetch.index.layout.EntrySink;

/** A receiver that gives another one the entries of a filter, and lets the others pass. */
public record FilteredSink(EntryFilter filter, EntrySink sink) implements EntrySink {
  /** Entries that a reader may read ahead: few of them may be wanted. */
  private static final int LEAST_ROOM = 64;

  @Override
  public boolean take(
      byte[] array, int keyOffset, int keyLength, int valueLength, long version, long deadline) {
    return filter.accepts(array, keyOffset, keyLength, valueLength, version)
        ? sink.take(array, keyOffset, keyLength, valueLength, version, deadline)
        : sink.passes();
  }

  @Override
  public boolean passes() {
    return sink.passes();
  }

  @Override
  public long clock() {
    return sink.clock();
  }

  @Override
  public int room() {
    return Math.max(LEAST_ROOM, sink.room());
  }

  @Override
  public boolean admits() {
    return sink.admits();
  }
}
