package dev.ringfetch.index.client;

import io.grpc.Status;

/**
 * The failure of a read of a topic from an offset before the first record of the partition: records
 * from there on may have been removed. The reader goes on at {@link #first}. Its status is
 * OUT_OF_RANGE.
 */
public final class OffsetOutOfRangeException extends IndexException {
  private static final long serialVersionUID = 1;

  private final long first;

  OffsetOutOfRangeException(Subject subject, long offset, long first) {
    super(
        subject,
        Status.OUT_OF_RANGE.withDescription(
            "the records may have been removed: offset=" + offset + " first=" + first),
        false);
    this.first = first;
  }

  /** Offset of the first record that the partition has. */
  public long first() {
    return first;
  }
}
