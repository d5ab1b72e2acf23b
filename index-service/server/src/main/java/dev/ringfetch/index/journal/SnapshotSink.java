package dev.ringfetch.index.journal;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.Entry;
import java.io.IOException;

/** Takes the records of a snapshot, in the order that {@link SnapshotDescriptor} says. */
public interface SnapshotSink {
  /**
   * Adds a record that is of no entry.
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

  /** Adds an index. */
  default void create(long index, String name, IndexDefinition definition) throws IOException {
    final ByteString key = ByteString.copyFromUtf8(name);
    add(RecordDescriptor.CREATE_INDEX, index, 0, 0, 0, 0, key, definition.encoded());
  }

  /** Adds a partition, whose records up to this LSN are in the snapshot. */
  default void partition(long index, int partition, long lsn, ByteString clock) throws IOException {
    add(RecordDescriptor.PARTITION, index, partition, lsn, 0, 0, ByteString.EMPTY, clock);
  }

  /** Whether one step has added enough. */
  boolean isFull();
}
