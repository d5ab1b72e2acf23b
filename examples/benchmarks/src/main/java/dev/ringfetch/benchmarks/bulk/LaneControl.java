package dev.ringfetch.benchmarks.bulk;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The words by which a lane's receiver informs its sender: that it waits, and what it has counted.
 */
final class LaneControl {
  /** Length of memory in bytes. */
  static final int LENGTH = 4096;

  private static final VarHandle WORD =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final int OPENED = 0;
  private static final int CLOSED = 128;
  private static final int MESSAGES = 256;
  private static final int BYTES = 264;

  private final ByteBuffer memory;

  LaneControl(ByteBuffer memory) {
    this.memory = memory;
  }

  /** The receiver waits for messages of a transfer; they are numbered from 1. */
  void open(long transfer) {
    WORD.setRelease(memory, OPENED, transfer);
  }

  /** The receiver has taken in all of a transfer. */
  void close(long transfer, long messages, long bytes) {
    WORD.set(memory, MESSAGES, messages);
    WORD.set(memory, BYTES, bytes);
    WORD.setRelease(memory, CLOSED, transfer);
  }

  /** Waits for the receiver. */
  void awaitOpen(long transfer) {
    await(OPENED, transfer);
  }

  /** Waits until the receiver has taken in all. */
  void awaitClose(long transfer) {
    await(CLOSED, transfer);
  }

  private void await(int index, long transfer) {
    final Waiting waiting = new Waiting();
    while ((long) WORD.getAcquire(memory, index) != transfer) {
      waiting.pause();
    }
  }

  /** Messages that the receiver took in. */
  long messages() {
    return (long) WORD.get(memory, MESSAGES);
  }

  /** Bytes of payload that the receiver took in. */
  long bytes() {
    return (long) WORD.get(memory, BYTES);
  }
}
