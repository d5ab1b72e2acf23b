package dev.ringfetch.index.layout;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * Layout of a node of a spatial index: an R-link tree (Kornacker and Banks, VLDB 1995), whose nodes
 * have links to the right and the sequences of their splits, so that a reader finds what a split
 * has taken out of a node. Little-endian.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------------------------------------------------------+
 *  |                            Crc32c                             |
 *  +---------------+---------------+-------------------------------+
 *  |     Level     |     Count     |       2 bytes of padding      |
 *  +---------------+---------------+-------------------------------+
 *  |                           Sequence                            |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                             Birth                             |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                             Split                             |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                             Right                             |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                         Birth of Right                        |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                            Entries                           ...
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * <ul>
 *   <li><b>Crc32c</b>: of the complement of the index's incarnation (64 bits), the address of the
 *       node (64 bits) and all that follows the checksum.
 *   <li><b>Level</b>: 0 for a leaf, one more than its children's for an inner node; {@link #DEAD}
 *       for a node that was removed, which keeps birth, split and right.
 *   <li><b>Sequence</b>: as in a {@link NodeDescriptor}; unique in an index, and only grows in a
 *       partition.
 *   <li><b>Birth</b>: the sequence at which the node was created at this address; differs from that
 *       of all other nodes that had or will have the address. That of the root, a partition's first
 *       node, is {@value #ROOT_BIRTH}.
 *   <li><b>Split</b>: the sequence of the image with which the node last lost entries to a new
 *       right neighbour; 0: it never did, nor did the node that it was split from.
 *   <li><b>Right</b>, <b>Birth of Right</b>: that neighbour; 0 if there is none. A new neighbour
 *       inherits split and right.
 *   <li><b>Entries</b>: in no order, up to {@value #CAPACITY}, of {@value #ENTRY_LENGTH} bytes: a
 *       box (min x, min y, max x, max y as 32-bit floats, rounded outward); then in a leaf a slot
 *       as in the hash table (64 bits) and the lower half of the block's version (32 bits), in an
 *       inner node the address of a child (64 bits) and the lower half of its birth (32 bits). The
 *       box of a child encloses, at each moment, all that is below the child.
 * </ul>
 *
 * <p>A private copy has the same offset in an array as that of a block, see {@link
 * BlockDescriptor#COPY_OFFSET}; methods with a copy count offsets from the node's begin.
 */
public final class SpatialNodeDescriptor {
  /** Length of a node in bytes; nodes begin at multiples of it. */
  public static final int LENGTH = 1024;

  /** Offset of the checksum, 32 bits. */
  public static final int CRC_OFFSET = 0;

  /** Offset of the level, 8 bits. */
  public static final int LEVEL_OFFSET = CRC_OFFSET + Integer.BYTES;

  /** Offset of the number of entries, 8 bits. */
  public static final int COUNT_OFFSET = LEVEL_OFFSET + 1;

  /** Offset of the sequence, 64 bits. */
  public static final int SEQUENCE_OFFSET = LEVEL_OFFSET + Integer.BYTES;

  /** Offset of the birth, 64 bits. */
  public static final int BIRTH_OFFSET = SEQUENCE_OFFSET + Long.BYTES;

  /** Offset of the split, 64 bits. */
  public static final int SPLIT_OFFSET = BIRTH_OFFSET + Long.BYTES;

  /** Offset of the address of the right neighbour, 64 bits. */
  public static final int RIGHT_OFFSET = SPLIT_OFFSET + Long.BYTES;

  /** Offset of the birth of the right neighbour, 64 bits. */
  public static final int RIGHT_BIRTH_OFFSET = RIGHT_OFFSET + Long.BYTES;

  /** Offset of the first entry. */
  public static final int ENTRIES_OFFSET = RIGHT_BIRTH_OFFSET + Long.BYTES;

  /** Offset in an entry of the slot or the address of a child, 64 bits. */
  public static final int TARGET_OFFSET = 4 * Float.BYTES;

  /** Offset in an entry of the half version or the half birth, 32 bits. */
  public static final int HALF_OFFSET = TARGET_OFFSET + Long.BYTES;

  /** Length of an entry in bytes. */
  public static final int ENTRY_LENGTH = HALF_OFFSET + Integer.BYTES;

  /** The most entries of a node. */
  public static final int CAPACITY = (LENGTH - ENTRIES_OFFSET) / ENTRY_LENGTH;

  /** Birth of the root of a partition. */
  public static final int ROOT_BIRTH = 2;

  /** Level of a node that was removed. */
  public static final int DEAD = 0xFF;

  /** The highest level: even with two entries per node, memory is too small for it. */
  public static final int MAX_LEVEL = 40;

  /** Length of the array of a copy. */
  public static final int COPY_LENGTH = BlockDescriptor.COPY_OFFSET + LENGTH;

  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle FLOAT =
      MethodHandles.byteArrayViewVarHandle(float[].class, ByteOrder.LITTLE_ENDIAN);

  private SpatialNodeDescriptor() {}

  /** Checksum of a copy, whose own checksum this overwrites. */
  public static int crc(CRC32C crc, byte[] copy, long incarnation, long address) {
    return BlockDescriptor.crc(crc, copy, LENGTH, ~incarnation, address);
  }

  /** Level of a copy. */
  public static int level(byte[] copy) {
    return copy[BlockDescriptor.COPY_OFFSET + LEVEL_OFFSET] & 0xFF;
  }

  /** Number of entries of a copy. */
  public static int count(byte[] copy) {
    return copy[BlockDescriptor.COPY_OFFSET + COUNT_OFFSET] & 0xFF;
  }

  /** Sets level and number of entries of a copy. */
  public static void putHeader(byte[] copy, int level, int count) {
    INT.set(copy, BlockDescriptor.COPY_OFFSET + LEVEL_OFFSET, level | (count << Byte.SIZE));
  }

  /** A word of 64 bits of a copy. */
  public static long word(byte[] copy, int offset) {
    return (long) LONG.get(copy, BlockDescriptor.COPY_OFFSET + offset);
  }

  /** Sets a word of 64 bits of a copy. */
  public static void putWord(byte[] copy, int offset, long value) {
    LONG.set(copy, BlockDescriptor.COPY_OFFSET + offset, value);
  }

  /** A bound of an entry's box: 0 for min x, 1 for min y, 2 for max x, 3 for max y. */
  public static float bound(byte[] copy, int entry, int number) {
    return (float) FLOAT.get(copy, at(entry) + number * Float.BYTES);
  }

  /** The lower bounds of an entry's box, x in the lower half, if 0; the upper ones if 1. */
  static long bounds(byte[] copy, int entry, int number) {
    return (long) LONG.get(copy, at(entry) + number * Long.BYTES);
  }

  /** The slot of a leaf's entry, or the address of a child. */
  public static long target(byte[] copy, int entry) {
    return (long) LONG.get(copy, at(entry) + TARGET_OFFSET);
  }

  /** The half version of a leaf's entry, or the half birth of a child. */
  public static int half(byte[] copy, int entry) {
    return (int) INT.get(copy, at(entry) + HALF_OFFSET);
  }

  /** Sets an entry. */
  public static void putEntry(byte[] copy, int entry, float[] box, long target, int half) {
    final int at = at(entry);
    for (int i = 0; i < 4; i++) {
      FLOAT.set(copy, at + i * Float.BYTES, box[i]);
    }
    LONG.set(copy, at + TARGET_OFFSET, target);
    INT.set(copy, at + HALF_OFFSET, half);
  }

  /** Copies the box of an entry. */
  public static void getBox(byte[] copy, int entry, float[] box) {
    for (int i = 0; i < 4; i++) {
      box[i] = bound(copy, entry, i);
    }
  }

  /** Copies an entry. */
  public static void copyEntry(byte[] from, int entry, byte[] to, int toEntry) {
    System.arraycopy(from, at(entry), to, at(toEntry), ENTRY_LENGTH);
  }

  private static int at(int entry) {
    return BlockDescriptor.COPY_OFFSET + ENTRIES_OFFSET + entry * ENTRY_LENGTH;
  }
}
