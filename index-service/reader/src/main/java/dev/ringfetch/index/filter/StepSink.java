package dev.ringfetch.index.filter;

import dev.ringfetch.index.layout.EntrySink;

/**
 * A receiver of the entries that a step reads: gives another one those of a filter, lets the others
 * pass, and ends the step when its entries, wanted or not, have had so many bytes. So the time of a
 * step is bounded, however long its values are and however few a filter accepts.
 */
public final class StepSink implements EntrySink {
  /** Bytes of keys and values that end a step: reading them takes well below a millisecond. */
  private static final int BYTES = 1 << 20;

  /** Entries that a reader may read ahead: few of them may be wanted. */
  private static final int LEAST_ROOM = 64;

  private final EntryFilter filter; // null: all are wanted
  private final EntrySink sink;
  private int bytes;

  /**
   * Creates it.
   *
   * @param filter null: all are wanted.
   */
  public StepSink(EntryFilter filter, EntrySink sink) {
    this.filter = filter;
    this.sink = sink;
  }

  /** Begins a step. */
  public void begin() {
    bytes = 0;
  }

  @Override
  public boolean take(
      byte[] array, int keyOffset, int keyLength, int valueLength, long version, long deadline) {
    bytes += keyLength + valueLength;
    final boolean isWanted =
        filter == null || filter.accepts(array, keyOffset, keyLength, valueLength, version);
    final boolean goesOn =
        isWanted
            ? sink.take(array, keyOffset, keyLength, valueLength, version, deadline)
            : sink.passes();
    return goesOn && bytes < BYTES;
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
    return filter == null ? sink.room() : Math.max(LEAST_ROOM, sink.room());
  }

  @Override
  public boolean admits() {
    return sink.admits();
  }
}
