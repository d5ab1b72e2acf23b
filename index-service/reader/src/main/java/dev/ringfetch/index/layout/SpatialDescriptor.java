package dev.ringfetch.index.layout;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * Layout of what a spatial index has besides a hash index: behind the hash index's root, a head of
 * 64 bytes for each partition; and for each partition a ring with the records of its last moves.
 * Little-endian.
 *
 * <pre>
 *  Head
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------------------------------------------------------+
 *  |                             Moves                             |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                       Address of the Root                     |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                       Address of the Ring                     |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                       40 bytes of padding                    ...
 *  +---------------------------------------------------------------+
 *
 *  Record
 *  +---------------------------------------------------------------+
 *  |                            Crc32c                             |
 *  +---------------------------------------------------------------+
 *  |                       4 bytes of padding                      |
 *  +---------------------------------------------------------------+
 *  |                             Number                            |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                        Address of the Leaf                    |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                         Birth of the Leaf                     |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                       Sequence of the Leaf                    |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |          Box: min x, min y, max x, max y (32-bit floats)     ...
 *  +---------------------------------------------------------------+
 *  |                        8 bytes of padding                    ...
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * <ul>
 *   <li><b>Moves</b>: the number of the last record, shifted left by one bit; the owner stores it
 *       behind the record, and before it moves the entry. The lowest bit is set until it has: a
 *       search that begins meanwhile follows this move, too.
 *   <li><b>Root</b>: the partition's highest node, which never moves.
 *   <li><b>Number</b>: from 1; the record of move <i>n</i> is in line <i>n</i> mod {@value #LINES}.
 *   <li><b>Leaf</b>: the leaf into which an entry moves, by its address and birth, as it is before:
 *       with its sequence. If it is split meanwhile, its split is greater.
 *   <li><b>Box</b>: the new box of the entry, rounded outward.
 * </ul>
 */
public final class SpatialDescriptor {
  /** Length of a head in bytes. */
  public static final int HEAD_LENGTH = 64;

  /**
   * Offset in a head of the number of moves, 64 bits: shifted left by one bit, which is set while
   * the last move is under way.
   */
  public static final int MOVES_OFFSET = 0;

  /** Offset in a head of the address of the root, 64 bits. */
  public static final int ROOT_OFFSET = MOVES_OFFSET + Long.BYTES;

  /** Offset in a head of the address of the ring, 64 bits. */
  public static final int RING_OFFSET = ROOT_OFFSET + Long.BYTES;

  /** Number of the records of a ring. */
  public static final int LINES = 1024;

  /** Length of a record in bytes. */
  public static final int RECORD_LENGTH = 64;

  /** Length of a ring in bytes. */
  public static final int RING_LENGTH = LINES * RECORD_LENGTH;

  /** Offset in a record of its number, 64 bits. */
  public static final int NUMBER_OFFSET = Long.BYTES;

  /** Offset in a record of the address of the leaf, 64 bits. */
  public static final int LEAF_OFFSET = NUMBER_OFFSET + Long.BYTES;

  /** Offset in a record of the birth of the leaf, 64 bits. */
  public static final int BIRTH_OFFSET = LEAF_OFFSET + Long.BYTES;

  /** Offset in a record of the sequence of the leaf, 64 bits. */
  public static final int SEQUENCE_OFFSET = BIRTH_OFFSET + Long.BYTES;

  /** Offset in a record of the box, four 32-bit floats. */
  public static final int BOX_OFFSET = SEQUENCE_OFFSET + Long.BYTES;

  /** Length of the array of a copy of a record. */
  public static final int COPY_LENGTH = BlockDescriptor.COPY_OFFSET + RECORD_LENGTH;

  private static final VarHandle FLOAT =
      MethodHandles.byteArrayViewVarHandle(float[].class, ByteOrder.LITTLE_ENDIAN);

  private SpatialDescriptor() {}

  /** Length of the root of an index in bytes, with the heads. */
  public static int length(int partitions) {
    return head(partitions, partitions);
  }

  /** Offset of the head of a partition in the root of an index. */
  public static int head(int partition, int partitions) {
    return RootDescriptor.length(partitions) + partition * HEAD_LENGTH;
  }

  /** Offset of the record of a move in the ring. */
  public static int record(long number) {
    return (int) (number & (LINES - 1)) * RECORD_LENGTH;
  }

  /** Checksum of the copy of a record, whose own checksum this overwrites. */
  public static int crc(CRC32C crc, byte[] copy, long incarnation, long address) {
    return BlockDescriptor.crc(crc, copy, RECORD_LENGTH, ~incarnation, address);
  }

  /** A word of 64 bits of the copy of a record. */
  public static long word(byte[] copy, int offset) {
    return SpatialNodeDescriptor.word(copy, offset);
  }

  /** A bound of the box in the copy of a record. */
  public static float bound(byte[] copy, int number) {
    return (float) FLOAT.get(copy, at(number));
  }

  /** Writes a record into a copy; its checksum is still to be set. */
  public static void put(
      byte[] copy, long number, long leaf, long birth, long sequence, float[] box) {
    SpatialNodeDescriptor.putWord(copy, NUMBER_OFFSET, number);
    SpatialNodeDescriptor.putWord(copy, LEAF_OFFSET, leaf);
    SpatialNodeDescriptor.putWord(copy, BIRTH_OFFSET, birth);
    SpatialNodeDescriptor.putWord(copy, SEQUENCE_OFFSET, sequence);
    for (int i = 0; i < 4; i++) {
      FLOAT.set(copy, at(i), box[i]);
    }
  }

  private static int at(int bound) {
    return BlockDescriptor.COPY_OFFSET + BOX_OFFSET + bound * Float.BYTES;
  }

  /** The word of a number of moves. */
  public static long moves(long recorded, boolean isUnderWay) {
    return (recorded << 1) | (isUnderWay ? 1 : 0);
  }

  /** Number of the moves that have their records, in the word of moves. */
  static long recorded(long moves) {
    return moves >> 1;
  }

  /** Number of the moves that have ended, in the word of moves. */
  static long made(long moves) {
    return (moves >> 1) - (moves & 1);
  }
}
