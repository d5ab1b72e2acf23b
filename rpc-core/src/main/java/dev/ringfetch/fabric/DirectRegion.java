package dev.ringfetch.fabric;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Memory of this process outside the heap, which a device may reach as well. It is given back when
 * nothing refers to it any more. The length is a multiple of 8.
 */
public class DirectRegion implements MemoryRegion {
  static final VarHandle LONG =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  final ByteBuffer buffer;

  /** Allocates a zeroed region that begins on a line. Direct: newer JDKs order nothing else. */
  public DirectRegion(int length) {
    this(ByteBuffer.allocateDirect(length + 64).alignedSlice(64).slice(0, length));
  }

  /** Covers a direct buffer from its first byte on, which stands at a multiple of 8. */
  public DirectRegion(ByteBuffer buffer) {
    if (!buffer.isDirect() || buffer.alignmentOffset(0, Long.BYTES) != 0) {
      throw new IllegalArgumentException("not direct and aligned: buffer=" + buffer);
    }
    this.buffer = buffer;
  }

  /** A part of the memory as an application sees it. */
  public ByteBuffer slice(int index, int length) {
    return buffer.slice(index, length);
  }

  @Override
  public int length() {
    return buffer.capacity();
  }

  @Override
  public long getLong(int index) {
    return (long) LONG.get(buffer, index);
  }

  @Override
  public void putLong(int index, long value) {
    LONG.set(buffer, index, value);
  }

  @Override
  public int getInt(int index) {
    return (int) INT.get(buffer, index);
  }

  @Override
  public void putInt(int index, int value) {
    INT.set(buffer, index, value);
  }

  @Override
  public long getLongAcquire(int index) {
    return (long) LONG.getAcquire(buffer, index);
  }

  @Override
  public void putLongRelease(int index, long value) {
    LONG.setRelease(buffer, index, value);
  }

  @Override
  public int getIntAcquire(int index) {
    return (int) INT.getAcquire(buffer, index);
  }

  @Override
  public void putIntRelease(int index, int value) {
    INT.setRelease(buffer, index, value);
  }

  @Override
  public void getBytes(int index, byte[] destination, int offset, int length) {
    buffer.get(index, destination, offset, length);
  }

  @Override
  public void putBytes(int index, byte[] source, int offset, int length) {
    buffer.put(index, source, offset, length);
  }

  @Override
  public void fullFence() {
    VarHandle.fullFence();
  }

  @Override
  public void verify() {} // no peer can take it away
}
