package dev.ringfetch.memory;

import java.util.zip.CRC32C;

/**
 * Layout of the memory of an {@link OwnedValue}: the version, and four slots that the writer uses
 * in turn. Little-endian.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------------------------------------------------------+
 *  |                            Version                            |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                      56 bytes of padding                     ...
 *  +---------------------------------------------------------------+
 *  |                            4 Slots                           ...
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * <p>The version is that of the present value, whose slot is {@code version mod 4}; 0 if no value
 * was set; {@link #CLOSED} after the owner has taken the name back. A slot, with padding up to a
 * multiple of 64 bytes:
 *
 * <pre>
 *  +---------------------------------------------------------------+
 *  |                        Version of slot                        |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                            Length                             |
 *  +---------------------------------------------------------------+
 *  |                            Crc32c                             |
 *  +---------------------------------------------------------------+
 *  |                             Value                            ...
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * <p>The writer stores word by word, each after those before it: the slot of the next version, then
 * the version. So a slot is whole as long as the version has not come to {@value
 * #OVERWRITING_DISTANCE} more: only then the writer may have begun with the same slot. Readers
 * whose loads are in no order rely on the checksum of the slot's version and value instead.
 */
final class ValueDescriptor {
  /** Offset of the version. */
  static final int VERSION_OFFSET = 0;

  /** Version after the name was taken back. */
  static final long CLOSED = -1;

  /** Offset of the first slot. */
  static final int SLOTS_OFFSET = 64;

  /** Number of slots, a power of two. */
  static final int SLOTS = 4;

  /** From this difference of versions on, the slot of the earlier one may be overwritten. */
  static final int OVERWRITING_DISTANCE = SLOTS - 1;

  /** Offset of a slot's version in it. */
  static final int SLOT_VERSION_OFFSET = 0;

  /** Offset of the value's length in its slot. */
  static final int LENGTH_OFFSET = 8;

  /** Offset of the checksum in a slot. */
  static final int CRC_OFFSET = 12;

  /** Offset of the value in its slot. */
  static final int VALUE_OFFSET = 16;

  /** The longest value, in bytes. */
  static final int MAX_LENGTH = 1 << 20;

  private ValueDescriptor() {}

  /** Length of a slot for values up to this length. */
  static int slotLength(int capacity) {
    return (VALUE_OFFSET + capacity + 63) & -64;
  }

  /** Offset of the slot of a version. */
  static int slotOffset(long version, int capacity) {
    return SLOTS_OFFSET + (int) (version & (SLOTS - 1)) * slotLength(capacity);
  }

  /** Length of the memory for values up to this length. */
  static int memoryLength(int capacity) {
    return SLOTS_OFFSET + SLOTS * slotLength(capacity);
  }

  /** Checksum of a version and the bytes of its value. */
  static int crc(CRC32C crc, long version, byte[] bytes, int offset, int length) {
    crc.reset();
    for (int shift = 0; shift < Long.SIZE; shift += Byte.SIZE) {
      crc.update((int) (version >>> shift));
    }
    crc.update(bytes, offset, length);
    return (int) crc.getValue();
  }
}
