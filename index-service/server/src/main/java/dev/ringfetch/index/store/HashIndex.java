package dev.ringfetch.index.store;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.HashLocation;
import dev.ringfetch.index.layout.HashReader;

/**
 * A hash index in index memory: partitions, each with one owner at a time, and lock-free readers.
 */
@SuppressWarnings({"DoNotCallSuggester", "UnusedVariable"})
public final class HashIndex {
  /**
   * Creates an empty index that is open to readers.
   *
   * @param memory where it lives
   * @param partitions a power of two
   * @throws StoreFullException if there is no memory for it
   */
  public HashIndex(StoreMemory memory, int partitions) {}

  /** Number of partitions. */
  public int partitions() {
    throw new UnsupportedOperationException("body follows");
  }

  /** A partition. */
  public PartitionStore partition(int number) {
    throw new UnsupportedOperationException("body follows");
  }

  /** Number of the partition that a key belongs to. Safe for use by many threads. */
  public int partitionOf(ByteString key) {
    throw new UnsupportedOperationException("body follows");
  }

  /** What readers need to know. */
  public HashLocation location() {
    throw new UnsupportedOperationException("body follows");
  }

  /** Creates a reader for one thread at a time. */
  public HashReader newReader() {
    throw new UnsupportedOperationException("body follows");
  }

  /**
   * Number of entries. Safe for use by many threads; while owners write, it is exact for no moment.
   */
  public long count() {
    throw new UnsupportedOperationException("body follows");
  }

  /**
   * Closes the index to readers and gives its memory back. No partition may be in use any more, and
   * each owner's stores must have happened before.
   */
  public void drop() {
    throw new UnsupportedOperationException("body follows");
  }
}
