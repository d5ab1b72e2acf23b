package dev.ringfetch.index.layout;

import java.util.Arrays;

/**
 * Private copies of some entries of leaves, between their reads and their delivery. Delivery does
 * not touch index memory, so no memory fault can occur between two deliveries. Used by one thread
 * at a time.
 */
final class EntryChunk {
  /** Bytes of blocks that end a chunk, except for its first entry. */
  static final int MAX_BYTES = 64 << 10;

  private int[] keyOffsets = new int[NodeDescriptor.LEAF_ENTRIES];
  private int[] keyLengths = new int[NodeDescriptor.LEAF_ENTRIES];
  private int[] valueLengths = new int[NodeDescriptor.LEAF_ENTRIES];
  private long[] versions = new long[NodeDescriptor.LEAF_ENTRIES];
  private long[] deadlines = new long[NodeDescriptor.LEAF_ENTRIES];
  private byte[] bytes = new byte[4096];
  private int used;
  private int count;
  private long latest;

  void clear() {
    used = 0;
    count = 0;
    latest = 0;
  }

  /** Adds the entry of a block. */
  void add(BlockCopy block) {
    final int length = block.keyLength() + block.valueLength();
    if (bytes.length - used < length) {
      bytes = Arrays.copyOf(bytes, Math.max(used + length, 2 * bytes.length));
    }
    if (count == keyOffsets.length) {
      keyOffsets = Arrays.copyOf(keyOffsets, 2 * count);
      keyLengths = Arrays.copyOf(keyLengths, 2 * count);
      valueLengths = Arrays.copyOf(valueLengths, 2 * count);
      versions = Arrays.copyOf(versions, 2 * count);
      deadlines = Arrays.copyOf(deadlines, 2 * count);
    }
    System.arraycopy(block.bytes(), block.keyOffset(), bytes, used, length);
    keyOffsets[count] = used;
    keyLengths[count] = block.keyLength();
    valueLengths[count] = block.valueLength();
    versions[count] = block.version();
    deadlines[count] = block.deadline();
    latest = Math.max(latest, deadlines[count]);
    used += length;
    count++;
  }

  int count() {
    return count;
  }

  byte[] bytes() {
    return bytes;
  }

  int keyOffset(int number) {
    return keyOffsets[number];
  }

  int keyLength(int number) {
    return keyLengths[number];
  }

  int valueLength(int number) {
    return valueLengths[number];
  }

  long version(int number) {
    return versions[number];
  }

  /** Deadline of an entry, 0 if it has none. */
  long deadline(int number) {
    return deadlines[number];
  }

  /** The latest deadline of all entries, 0 if none has one. */
  long latestDeadline() {
    return latest;
  }
}
