package dev.ringfetch.memory;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/** A private copy of the present value in an owner's memory. Used by one thread at a time. */
final class ValueImage {
  private static final int ATTEMPTS = 64;

  /** Up to this length, one READ of all slots is faster than one of the version, and one more. */
  private static final int SHORT_MEMORY = 8 << 10;

  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  private final int capacity;
  private final byte[] bytes;
  private final ByteBuffer buffer;
  private final CRC32C crc = new CRC32C();
  private long version;
  private int begin;
  private int length;

  /** Creates an image of values up to this length. */
  ValueImage(int capacity) {
    this.capacity = capacity;
    final int memoryLength = ValueDescriptor.memoryLength(capacity);
    this.bytes =
        new byte
            [memoryLength <= SHORT_MEMORY ? memoryLength : ValueDescriptor.slotLength(capacity)];
    this.buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /**
   * Takes a copy of the present value.
   *
   * @return false if the writer has overwritten the value each time before the copy was whole.
   */
  boolean read(RegionReads reads) throws LostMemoryException {
    for (int i = 0; i < ATTEMPTS; i++) {
      if (reads.isMapped() ? readInOrder(reads) : readInAnyOrder(reads)) {
        reads.verify();
        return true;
      }
    }
    reads.verify();
    return false;
  }

  private boolean readInOrder(RegionReads reads) throws LostMemoryException {
    version = open(reads, reads.load(ValueDescriptor.VERSION_OFFSET));
    if (version == 0) {
      return true;
    }
    final int slot = ValueDescriptor.slotOffset(version, capacity);
    begin = 0;
    length = (int) reads.load(slot + ValueDescriptor.LENGTH_OFFSET);
    if (length < 0 || length > capacity) {
      return false;
    }
    reads.copy(slot + ValueDescriptor.VALUE_OFFSET, length, bytes);
    return open(reads, reads.load(ValueDescriptor.VERSION_OFFSET)) - version
        < ValueDescriptor.OVERWRITING_DISTANCE;
  }

  /** Checks that the name was not taken back: that hides how far the writer had come. */
  private static long open(RegionReads reads, long version) throws LostMemoryException {
    if (version == ValueDescriptor.CLOSED) {
      reads.verify(); // its page may be gone, too
      throw new LostMemoryException();
    }
    return version;
  }

  private boolean readInAnyOrder(RegionReads reads) throws LostMemoryException {
    final int slot;
    if (ValueDescriptor.memoryLength(capacity) <= SHORT_MEMORY) {
      reads.copy(0, bytes.length, bytes);
      version = (long) LONG.get(bytes, ValueDescriptor.VERSION_OFFSET);
      slot = ValueDescriptor.slotOffset(version, capacity);
    } else {
      version = reads.load(ValueDescriptor.VERSION_OFFSET);
      reads.copy(ValueDescriptor.slotOffset(version, capacity), bytes.length, bytes);
      slot = 0;
    }
    if (open(reads, version) == 0) {
      return true;
    }
    begin = slot + ValueDescriptor.VALUE_OFFSET;
    length = (int) INT.get(bytes, slot + ValueDescriptor.LENGTH_OFFSET);
    return length >= 0
        && length <= capacity
        && (long) LONG.get(bytes, slot + ValueDescriptor.SLOT_VERSION_OFFSET) == version
        && (int) INT.get(bytes, slot + ValueDescriptor.CRC_OFFSET)
            == ValueDescriptor.crc(crc, version, bytes, begin, length);
  }

  /** Version of the copy; 0 if no value was set. */
  long version() {
    return version;
  }

  /** The copy, until the next read. */
  ByteBuffer value() {
    return buffer.limit(begin + length).position(begin);
  }
}
