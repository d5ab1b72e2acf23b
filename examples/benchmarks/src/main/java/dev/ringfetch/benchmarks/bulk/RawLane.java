package dev.ringfetch.benchmarks.bulk;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The simplest lane through memory: some buffers, and for each a word with the length of the
 * message in it, or 0. Both sides copy at once, each in another buffer.
 */
final class RawLane implements Lane {
  private static final VarHandle WORD =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final int BUFFERS = 4;
  private static final int WORD_STEP = 128;
  private static final int PAGE = 4096;

  private final ByteBuffer memory;
  private final int step;
  private int next;

  /** Creates one side; the memory has the {@link #length} of a lane for such messages. */
  RawLane(ByteBuffer memory, int messageLength) {
    this.memory = memory;
    this.step = step(messageLength);
  }

  /** Length of memory for messages up to some length, in bytes. */
  static int length(int messageLength) {
    return PAGE + BUFFERS * step(messageLength);
  }

  private static int step(int messageLength) {
    return (messageLength + PAGE - 1) / PAGE * PAGE;
  }

  @Override
  public void prepare() {
    for (int i = 0; i < BUFFERS; i++) {
      WORD.setRelease(memory, i * WORD_STEP, 0L);
    }
  }

  @Override
  public void send(byte[] message) {
    awaitRoom();
    memory.put(PAGE + next * step, message);
    publish(message.length);
  }

  @Override
  public void end() {
    awaitRoom();
    publish(END);
  }

  private void awaitRoom() {
    if (word() != 0) {
      final Waiting waiting = new Waiting();
      while (word() != 0) {
        waiting.pause();
      }
    }
  }

  @Override
  public int receive(byte[] target) {
    long length = word();
    if (length == 0) {
      final Waiting waiting = new Waiting();
      while ((length = word()) == 0) {
        waiting.pause();
      }
    }
    if (length != END) {
      memory.get(PAGE + next * step, target, 0, (int) length);
    }
    publish(0);
    return (int) length;
  }

  private long word() {
    return (long) WORD.getAcquire(memory, next * WORD_STEP);
  }

  /** Hands the buffer over and goes on to the next. */
  private void publish(long length) {
    WORD.setRelease(memory, next * WORD_STEP, length);
    next = (next + 1) % BUFFERS;
  }
}
