package dev.ringfetch.memory;

import dev.ringfetch.fabric.MemoryRegion;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/** The writer of a value's memory, see {@link ValueDescriptor}. Used by one thread at a time. */
final class ValueWriter {
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final MemoryRegion memory;
  private final int capacity;
  private final byte[] bytes;
  private final ByteBuffer buffer;
  private final CRC32C crc = new CRC32C();
  private long version;

  /**
   * Creates the writer of memory that is zeroed.
   *
   * @param version before that of the first value.
   */
  ValueWriter(MemoryRegion memory, int capacity, long version) {
    this.memory = memory;
    this.capacity = capacity;
    this.version = version;
    this.bytes = new byte[(capacity + 7) & -8];
    this.buffer = ByteBuffer.wrap(bytes, 0, capacity).slice().order(ByteOrder.LITTLE_ENDIAN);
  }

  /** An empty buffer for the next value. */
  ByteBuffer buffer() {
    return buffer.clear();
  }

  /** Writes the value in the buffer, from its begin to its position. */
  void write() {
    final long next = version + 1;
    final int length = buffer.position();
    final int slot = ValueDescriptor.slotOffset(next, capacity);
    final long check = ValueDescriptor.crc(crc, next, bytes, 0, length);
    memory.putLongRelease(slot + ValueDescriptor.SLOT_VERSION_OFFSET, next);
    memory.putLongRelease(slot + ValueDescriptor.LENGTH_OFFSET, length | check << Integer.SIZE);
    for (int i = 0; i < length; i += Long.BYTES) {
      memory.putLongRelease(slot + ValueDescriptor.VALUE_OFFSET + i, (long) LONG.get(bytes, i));
    }
    memory.putLongRelease(ValueDescriptor.VERSION_OFFSET, next);
    version = next;
  }

  /** Tells readers that the name was taken back. */
  void close() {
    memory.putLongRelease(ValueDescriptor.VERSION_OFFSET, ValueDescriptor.CLOSED);
    memory.fullFence();
  }

  /** Version of the last value. */
  long version() {
    return version;
  }
}
