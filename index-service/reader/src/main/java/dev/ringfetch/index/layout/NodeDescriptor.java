package dev.ringfetch.index.layout;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * Layout of a node of an ordered index: a B-link tree (Lehman and Yao, TODS 1981) whose nodes have
 * fence keys, so that a reader can tell from a node alone which keys belong to it. Little-endian.
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
 *  |                             Right                             |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                   Low: a reference to a key                  ...
 *  +---------------------------------------------------------------+
 *  |                   High: a reference to a key                 ...
 *  +---------------------------------------------------------------+
 *  |                            Entries                           ...
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * <ul>
 *   <li><b>Crc32c</b>: of the complement of the index's incarnation (64 bits), the address of the
 *       node (64 bits) and all that follows the checksum.
 *   <li><b>Level</b>: 0 for a leaf, one more than its children's for an inner node; {@link #DEAD}
 *       for a node that was removed from the tree.
 *   <li><b>Sequence</b>: even; no two nodes of an index, and no two states of one node, ever have
 *       the same. Odd while the owner stores into the node. So two equal loads of an even sequence,
 *       before and after the others, prove on live memory that the node did not change; the
 *       checksum validates copies made by a network card.
 *   <li><b>Right</b>: address of the next node of this level, or 0.
 *   <li><b>Low, High</b>: the node has the keys from low to before high. The first node of a level
 *       has the empty key as low, the last one has {@link KeyOrder#END} as high. The high of a node
 *       is the low of the next.
 *   <li><b>Entries</b>: in ascending order. In a leaf up to {@value #LEAF_ENTRIES} references to
 *       keys; in an inner node up to {@value #INNER_ENTRIES} references to the lows of children,
 *       each followed by the child's address (64 bits).
 * </ul>
 *
 * <p>A reference has {@value #REFERENCE_LENGTH} bytes: the key's head (64 bits), a slot (64 bits)
 * and the lower half of a version (32 bits). The slot is as in {@link GroupDescriptor}, with the
 * code of {@link KeyOrder} in place of a fingerprint. In a leaf it leads to the block of the entry.
 * Elsewhere it leads to the block of a separator, which has no value and another salt; there is one
 * only if the key is longer than its head. A block is the referenced one if it is valid and has the
 * version: no two blocks of entries have the same version, nor have two of separators, and no read
 * takes as long as 2^32 writes.
 *
 * <p>A private copy of a node has the same offset in an array as the copy of a block, see {@link
 * BlockDescriptor#COPY_OFFSET}; the methods with a copy count offsets from the node's begin.
 */
public final class NodeDescriptor {
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

  /** Offset of the address of the node to the right, 64 bits. */
  public static final int RIGHT_OFFSET = SEQUENCE_OFFSET + Long.BYTES;

  /** Offset of the reference to the low fence. */
  public static final int LOW_OFFSET = RIGHT_OFFSET + Long.BYTES;

  /** Length of a reference to a key in bytes. */
  public static final int REFERENCE_LENGTH = 2 * Long.BYTES + Integer.BYTES;

  /** Offset of the reference to the high fence. */
  public static final int HIGH_OFFSET = LOW_OFFSET + REFERENCE_LENGTH;

  /** Offset of the first entry. */
  public static final int ENTRIES_OFFSET = HIGH_OFFSET + REFERENCE_LENGTH;

  /** Length of an entry of an inner node in bytes. */
  public static final int INNER_LENGTH = REFERENCE_LENGTH + Long.BYTES;

  /** The most entries of a leaf. */
  public static final int LEAF_ENTRIES = (LENGTH - ENTRIES_OFFSET) / REFERENCE_LENGTH;

  /** The most entries of an inner node. */
  public static final int INNER_ENTRIES = (LENGTH - ENTRIES_OFFSET) / INNER_LENGTH;

  /** Level of a node that was removed. */
  public static final int DEAD = 0xFF;

  /** The highest level: even with two entries per node, memory is too small for it. */
  public static final int MAX_LEVEL = 40;

  /** Length of the array of a copy. */
  public static final int COPY_LENGTH = BlockDescriptor.COPY_OFFSET + LENGTH;

  private static final long SEPARATOR_SALT = 0x5345_5041_5241_544FL;

  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  private NodeDescriptor() {}

  /** Offset of an entry in a node of a level. */
  public static int entry(int level, int number) {
    return ENTRIES_OFFSET + number * (level == 0 ? REFERENCE_LENGTH : INNER_LENGTH);
  }

  /** The most entries of a node of a level. */
  public static int capacity(int level) {
    return level == 0 ? LEAF_ENTRIES : INNER_ENTRIES;
  }

  /** Checksum of a copy, whose own checksum this overwrites. */
  public static int crc(CRC32C crc, byte[] copy, long incarnation, long address) {
    return BlockDescriptor.crc(crc, copy, LENGTH, ~incarnation, address);
  }

  /** The salt of the checksums of separators' blocks, in place of the index's incarnation. */
  public static long separators(long incarnation) {
    return incarnation ^ SEPARATOR_SALT;
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

  /** Level, number of entries and padding of a copy, as one word of 32 bits. */
  public static int header(byte[] copy) {
    return (int) INT.get(copy, BlockDescriptor.COPY_OFFSET + LEVEL_OFFSET);
  }

  /** A word of 64 bits of a copy. */
  public static long word(byte[] copy, int offset) {
    return (long) LONG.get(copy, BlockDescriptor.COPY_OFFSET + offset);
  }

  /** Sets a word of 64 bits of a copy. */
  public static void putWord(byte[] copy, int offset, long value) {
    LONG.set(copy, BlockDescriptor.COPY_OFFSET + offset, value);
  }

  /** Head in a reference of a copy. */
  public static long head(byte[] copy, int reference) {
    return word(copy, reference);
  }

  /** Slot in a reference of a copy. */
  public static long slot(byte[] copy, int reference) {
    return word(copy, reference + Long.BYTES);
  }

  /** Code of the key's length in a reference of a copy. */
  public static int code(byte[] copy, int reference) {
    return GroupDescriptor.fingerprint(slot(copy, reference));
  }

  /** The lower half of the version in a reference of a copy. */
  public static int version(byte[] copy, int reference) {
    return (int) INT.get(copy, BlockDescriptor.COPY_OFFSET + reference + 2 * Long.BYTES);
  }

  /** Sets a reference of a copy. */
  public static void putReference(byte[] copy, int reference, long head, long slot, int version) {
    putWord(copy, reference, head);
    putWord(copy, reference + Long.BYTES, slot);
    INT.set(copy, BlockDescriptor.COPY_OFFSET + reference + 2 * Long.BYTES, version);
  }

  /** Address of the child in an entry of an inner node's copy. */
  public static long child(byte[] copy, int entry) {
    return word(copy, entry + REFERENCE_LENGTH);
  }

  /** Whether two references of two copies are the same, and so refer to the same key. */
  public static boolean isSame(byte[] copy1, int reference1, byte[] copy2, int reference2) {
    return head(copy1, reference1) == head(copy2, reference2)
        && slot(copy1, reference1) == slot(copy2, reference2)
        && version(copy1, reference1) == version(copy2, reference2);
  }
}
