package dev.ringfetch.index.journal;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.outcome.KeptOutcome;
import dev.ringfetch.index.v1.Entry;
import java.io.IOException;

/** A receiver of the records of a snapshot, in the order of {@link SnapshotDescriptor}. */
public interface SnapshotSink {
  /**
   * Adds a record that concerns no entry.
   *
   * @param client number of a client, or 0
   * @param request number of the client's request, or 0
   */
  void add(
      int type,
      long index,
      int partition,
      long lsn,
      long client,
      long request,
      ByteString key,
      ByteString value)
      throws IOException;

  /** Adds an entry. */
  void put(long index, int partition, Entry entry) throws IOException;

  /** Adds an outcome that a partition keeps. */
  void outcome(long index, int partition, KeptOutcome outcome) throws IOException;

  /** Adds a client, and the first of its writes whose outcome is kept. */
  default void client(long client, long firstIncomplete) throws IOException {
    final ByteString none = ByteString.EMPTY;
    add(RecordDescriptor.OPEN_CLIENT, 0, 0, 0, client, firstIncomplete, none, none);
  }

  /**
   * Adds a partition.
   *
   * @param lsn up to which all records are in the snapshot
   * @param clock of the partition, in milliseconds since 1970; 0 if it was never set
   */
  default void partition(long index, int partition, long lsn, long clock) throws IOException {
    final ByteString time = RecordDescriptor.value(clock);
    add(RecordDescriptor.PARTITION, index, partition, lsn, 0, 0, ByteString.EMPTY, time);
  }

  /**
   * Adds an encoded record unchanged.
   *
   * @param length aligned
   */
  void copy(byte[] array, int offset, int length) throws IOException;

  /** Adds encoded records unchanged, which follow one another from the begin of an array on. */
  default void copyAll(byte[] array) throws IOException {
    for (int offset = 0; offset < array.length; ) {
      final int length =
          RecordDescriptor.aligned(
              RecordDescriptor.getInt(array, offset + RecordDescriptor.LENGTH_OFFSET));
      copy(array, offset, length);
      offset += length;
    }
  }

  /** Whether one step has added enough. */
  boolean isFull();
}
