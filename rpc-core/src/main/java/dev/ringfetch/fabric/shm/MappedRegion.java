package dev.ringfetch.fabric.shm;

import dev.ringfetch.fabric.MemoryRegion;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;

/**
 * The only class that touches mapped memory, by VarHandles and bulk get and put alone: those are
 * the accesses of which it is known that a page that was taken away becomes an {@link
 * InternalError} instead of the death of the JVM.
 *
 * <p>May be used from any thread. The mapping lives until this object is garbage: unmapping it
 * earlier could pull it from under a thread that is inside.
 */
final class MappedRegion implements MemoryRegion {
  private static final VarHandle LONG =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  private final ByteBuffer buffer;
  private final int length;

  /** Covers a whole mapping, which begins on a page, so that aligned indexes are aligned words. */
  MappedRegion(MappedByteBuffer buffer) {
    this.buffer = buffer;
    this.length = buffer.capacity();
  }

  @Override
  public int length() {
    return length;
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

  /** Swaps a word if it is as expected, with volatile order, and returns it as it was. */
  long compareAndExchangeLong(int index, long expected, long desired) {
    return (long) LONG.compareAndExchange(buffer, index, expected, desired);
  }

  /** Adds to a word, with volatile order, and returns it as it was. */
  long getAndAddLong(int index, long delta) {
    return (long) LONG.getAndAdd(buffer, index, delta);
  }
}
