package dev.ringfetch.memory;

import dev.ringfetch.fabric.MemoryRegion;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The writer of a broadcast's memory, see {@link BroadcastDescriptor}. Used by one thread at a
 * time.
 */
final class BroadcastWriter {
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final MemoryRegion memory;
  private final int ringLength;
  private final byte[] bytes;
  private final ByteBuffer buffer;
  private long tail;
  private long sequence; // of the next message

  /** Creates the writer of memory that is zeroed. */
  BroadcastWriter(MemoryRegion memory, int ringLength) {
    this.memory = memory;
    this.ringLength = ringLength;
    final int maxLength = BroadcastDescriptor.maxMessageLength(ringLength);
    this.bytes = new byte[(maxLength + 7) & -8];
    this.buffer = ByteBuffer.wrap(bytes, 0, maxLength).slice().order(ByteOrder.LITTLE_ENDIAN);
  }

  /** An empty buffer for the next message. */
  ByteBuffer buffer() {
    return buffer.clear();
  }

  /** Writes the message in the buffer, from its begin to its position. */
  void write() {
    final int length = buffer.position();
    final int recordLength = BroadcastDescriptor.recordLength(length);
    final int left = ringLength - index(tail);
    final long begin = left < recordLength ? tail + left : tail;
    final long end = begin + recordLength;
    memory.putLongRelease(BroadcastDescriptor.INTENT_OFFSET, end);
    if (begin != tail) {
      memory.putLongRelease(offset(tail), BroadcastDescriptor.PADDING & 0xFFFF_FFFFL);
    }
    final int record = offset(begin);
    memory.putLongRelease(record + BroadcastDescriptor.LENGTH_OFFSET, length);
    memory.putLongRelease(record + BroadcastDescriptor.SEQUENCE_OFFSET, sequence);
    for (int i = 0; i < length; i += Long.BYTES) {
      memory.putLongRelease(
          record + BroadcastDescriptor.MESSAGE_OFFSET + i, (long) LONG.get(bytes, i));
    }
    memory.putLongRelease(BroadcastDescriptor.TAIL_OFFSET, end);
    memory.putLongRelease(BroadcastDescriptor.LATEST_OFFSET, begin);
    tail = end;
    sequence++;
  }

  private int index(long position) {
    return (int) position & (ringLength - 1);
  }

  private int offset(long position) {
    return BroadcastDescriptor.RING_OFFSET + index(position);
  }

  /** Tells readers that the name was taken back. */
  void close() {
    memory.putLongRelease(BroadcastDescriptor.TAIL_OFFSET, BroadcastDescriptor.CLOSED);
    memory.fullFence();
  }

  /** Number of messages that were written. */
  long count() {
    return sequence;
  }
}
