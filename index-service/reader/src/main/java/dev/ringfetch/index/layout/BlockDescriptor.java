package dev.ringfetch.index.layout;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * Layout of a block: the entry of one key. Little-endian.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------------------------------------------------------+
 *  |                            Crc32c                             |
 *  +---------------------------------------------------------------+
 *  |                            Version                            |
 *  |                               +-------------------------------+
 *  |                               |      Key Length (varint)     ...
 *  +---------------------------------------------------------------+
 *  |                    Value Length (varint)                     ...
 *  +---------------------------------------------------------------+
 *  |                    Deadline (64 bits), or nothing            ...
 *  +---------------------------------------------------------------+
 *  |                             Key                              ...
 *  +---------------------------------------------------------------+
 *  |                            Value                             ...
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * <ul>
 *   <li><b>Crc32c</b>: of the incarnation of the index (64 bits), the address of the block (64
 *       bits) and all that follows the checksum, up to the value's end. Until the block's slot is
 *       stored, this is the complement: so a valid block is a published one.
 *   <li><b>Version</b>: 48 bits. No two blocks of a partition ever have the same.
 *   <li><b>Key Length</b>: with {@link #DEADLINE_FLAG} added if the block has a deadline, so it has
 *       two bytes then.
 *   <li><b>Deadline</b>: in milliseconds since 1970, at least 1. The entry is absent as soon as the
 *       clock of its partition has come to it.
 * </ul>
 *
 * <p>With lengths below 128 and without a deadline the header has {@value #SHORT_HEADER_LENGTH}
 * bytes. Blocks begin at multiples of 4.
 *
 * <p>A private copy of a block stands in an array {@value #COPY_OFFSET} bytes behind what the
 * checksum covers, so that one pass can compute the checksum. Methods with a copy overwrite these
 * bytes and the copy's own checksum.
 */
public final class BlockDescriptor {
  /** The longest key, in bytes. */
  public static final int MAX_KEY_LENGTH = 1024;

  /** The longest value, in bytes. */
  public static final int MAX_VALUE_LENGTH = 1024 * 1024;

  /** Offset of the checksum, 32 bits. */
  public static final int CRC_OFFSET = 0;

  /** Offset of the version, 48 bits. */
  public static final int VERSION_OFFSET = CRC_OFFSET + Integer.BYTES;

  /** Offset of the lengths. */
  public static final int LENGTHS_OFFSET = VERSION_OFFSET + 6;

  /** Length of the header if both lengths are below 128. */
  public static final int SHORT_HEADER_LENGTH = LENGTHS_OFFSET + 2;

  /** Flag in a key length: the block has a deadline. No key is that long. */
  public static final int DEADLINE_FLAG = 1 << 13;

  /** Offset of the copy of a block in an array. */
  public static final int COPY_OFFSET = 2 * Long.BYTES - Integer.BYTES;

  /** Flag in {@link #lengths}: there is a deadline in front of the key. */
  private static final long HAS_DEADLINE = 1L << 62;

  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle SHORT =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);

  private BlockDescriptor() {}

  /** Length of a block without a deadline in bytes. */
  public static long length(int keyLength, int valueLength) {
    return length(keyLength, valueLength, false);
  }

  /** Length of a block in bytes. */
  public static long length(int keyLength, int valueLength, boolean hasDeadline) {
    return (long) LENGTHS_OFFSET
        + (hasDeadline
            ? varintLength(keyLength | DEADLINE_FLAG) + Long.BYTES
            : varintLength(keyLength))
        + varintLength(valueLength)
        + keyLength
        + valueLength;
  }

  private static int varintLength(int value) {
    return (38 - Integer.numberOfLeadingZeros(value | 1)) / 7;
  }

  /** Same, for a block without a deadline. */
  public static int putHeader(byte[] array, long version, int keyLength, int valueLength) {
    return putHeader(array, version, keyLength, valueLength, 0);
  }

  /**
   * Writes version, lengths and deadline into the copy of a block.
   *
   * @param deadline in milliseconds since 1970; 0 if the block has none
   * @return where in the array the key begins, followed by the value
   */
  public static int putHeader(
      byte[] array, long version, int keyLength, int valueLength, long deadline) {
    INT.set(array, COPY_OFFSET + VERSION_OFFSET, (int) version);
    SHORT.set(array, COPY_OFFSET + VERSION_OFFSET + Integer.BYTES, (short) (version >>> 32));
    final int flag = deadline == 0 ? 0 : DEADLINE_FLAG;
    final int at = putVarint(array, COPY_OFFSET + LENGTHS_OFFSET, keyLength | flag);
    final int end = putVarint(array, at, valueLength);
    if (deadline == 0) {
      return end;
    }
    LONG.set(array, end, deadline);
    return end + Long.BYTES;
  }

  private static int putVarint(byte[] array, int offset, int value) {
    int at = offset;
    int rest = value;
    while (rest >= 0x80) {
      array[at++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    array[at++] = (byte) rest;
    return at;
  }

  /** Checksum of a copy. */
  public static int crc(CRC32C crc, byte[] array, int blockLength, long incarnation, long address) {
    LONG.set(array, 0, incarnation);
    LONG.set(array, Long.BYTES, address);
    crc.reset();
    crc.update(array, 0, COPY_OFFSET + blockLength);
    return (int) crc.getValue();
  }

  /** Sets the checksum field of a copy. */
  public static void putCrc(byte[] array, int value) {
    INT.set(array, COPY_OFFSET + CRC_OFFSET, value);
  }

  /** The checksum field of a copy. */
  public static int getCrc(byte[] array) {
    return (int) INT.get(array, COPY_OFFSET + CRC_OFFSET);
  }

  /** The version in a copy. */
  public static long version(byte[] array) {
    final long low = (int) INT.get(array, COPY_OFFSET + VERSION_OFFSET) & 0xFFFF_FFFFL;
    final long high =
        (short) SHORT.get(array, COPY_OFFSET + VERSION_OFFSET + Integer.BYTES) & 0xFFFFL;
    return (high << 32) | low;
  }

  /**
   * Reads the lengths of a copy, whose bytes may be anything.
   *
   * @return -1 if no entry with these lengths fits; else an argument for {@link #keyOffset}, {@link
   *     #keyLength}, {@link #valueLength} and {@link #deadline}
   */
  public static long lengths(byte[] array, int blockLength) {
    final int end = COPY_OFFSET + blockLength;
    int at = COPY_OFFSET + LENGTHS_OFFSET;
    int keyLength = 0;
    int valueLength = 0;
    for (int field = 0; field < 2; field++) {
      int value = 0;
      for (int shift = 0; ; shift += 7) {
        if (at >= end || shift > 14) {
          return -1;
        }
        final byte next = array[at++];
        value |= (next & 0x7F) << shift;
        if (next >= 0) {
          break;
        }
      }
      if (field == 0) {
        keyLength = value;
      } else {
        valueLength = value;
      }
    }
    if ((keyLength & DEADLINE_FLAG) != 0) {
      keyLength ^= DEADLINE_FLAG;
      at += Long.BYTES;
      if (keyLength + valueLength > end - at) {
        return -1;
      }
      return HAS_DEADLINE | ((long) at << 44) | ((long) keyLength << 22) | valueLength;
    }
    if (keyLength + valueLength > end - at) {
      return -1;
    }
    return ((long) at << 44) | ((long) keyLength << 22) | valueLength;
  }

  /** Where in the array the key begins. */
  public static int keyOffset(long lengths) {
    return (int) (lengths >>> 44) & 0xFFFF;
  }

  /** The deadline in a copy with these lengths, in milliseconds since 1970; 0 if it has none. */
  public static long deadline(byte[] array, long lengths) {
    return (lengths & HAS_DEADLINE) == 0 ? 0 : deadlineAt(array, keyOffset(lengths));
  }

  /** The deadline; only memory that is not a block has 0, which counts as long passed. */
  private static long deadlineAt(byte[] array, int keyOffset) {
    return Math.max(1, (long) LONG.get(array, keyOffset - Long.BYTES));
  }

  /** Length of the key in bytes. */
  public static int keyLength(long lengths) {
    return (int) (lengths >>> 22) & 0x3F_FFFF;
  }

  /** Length of the value in bytes; it begins behind the key. */
  public static int valueLength(long lengths) {
    return (int) lengths & 0x3F_FFFF;
  }

  /** Length of the block from its beginning to the value's end. */
  public static int usedLength(long lengths) {
    return keyOffset(lengths) - COPY_OFFSET + keyLength(lengths) + valueLength(lengths);
  }
}
