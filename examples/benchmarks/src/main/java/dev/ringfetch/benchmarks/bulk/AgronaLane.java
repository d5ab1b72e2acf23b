package dev.ringfetch.benchmarks.bulk;

import java.nio.ByteBuffer;
import org.agrona.BitUtil;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.MessageHandler;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.ringbuffer.OneToOneRingBuffer;
import org.agrona.concurrent.ringbuffer.RingBufferDescriptor;

/**
 * Agrona's ring buffer for one sender, in the smallest ring that takes the messages: they may be an
 * eighth of it.
 */
final class AgronaLane implements Lane {
  private static final int MESSAGE = 1;
  private static final int LAST = 2;
  private static final int SHARE = 8;
  private static final byte[] NOTHING = {};

  private final UnsafeBuffer memory;
  private final UnsafeBuffer source = new UnsafeBuffer(NOTHING);
  private final MessageHandler handler = this::onMessage;
  private final OneToOneRingBuffer ring;
  private byte[] target;
  private int received;

  /** Creates one side; the memory has the {@link #length} of a lane for such messages. */
  AgronaLane(ByteBuffer memory, int messageLength) {
    this.memory = new UnsafeBuffer(memory, 0, length(messageLength));
    this.ring = new OneToOneRingBuffer(this.memory);
  }

  /** Length of memory for messages up to some length, in bytes. */
  static int length(int messageLength) {
    return BitUtil.findNextPositivePowerOfTwo(SHARE * messageLength)
        + RingBufferDescriptor.TRAILER_LENGTH;
  }

  @Override
  public void prepare() {
    memory.setMemory(0, memory.capacity(), (byte) 0);
  }

  @Override
  public void send(byte[] message) {
    source.wrap(message);
    write(MESSAGE);
  }

  @Override
  public void end() {
    source.wrap(NOTHING);
    write(LAST);
  }

  private void write(int type) {
    if (!ring.write(type, source, 0, source.capacity())) {
      final Waiting waiting = new Waiting();
      while (!ring.write(type, source, 0, source.capacity())) {
        waiting.pause();
      }
    }
  }

  @Override
  public int receive(byte[] into) {
    target = into;
    if (ring.read(handler, 1) == 0) {
      final Waiting waiting = new Waiting();
      while (ring.read(handler, 1) == 0) {
        waiting.pause();
      }
    }
    return received;
  }

  private void onMessage(int type, MutableDirectBuffer buffer, int index, int length) {
    if (type == LAST) {
      received = END;
    } else {
      buffer.getBytes(index, target, 0, length);
      received = length;
    }
  }
}
