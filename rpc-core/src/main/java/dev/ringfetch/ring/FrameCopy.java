package dev.ringfetch.ring;

import dev.ringfetch.fabric.MemoryRegion;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Objects;

/**
 * A payload in private memory, where nobody can change it any more: what was checked is what is
 * handed out. Each payload replaces the one before; the memory grows to the longest.
 *
 * <p>To those that a frame is handed to it is memory to load from. Order is no matter, and words
 * need not be aligned.
 */
final class FrameCopy implements MemoryRegion {
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final int MIN_LENGTH = 1024;

  private byte[] bytes = new byte[MIN_LENGTH];
  private int length;

  /** Copies a payload, and returns the array that holds it from its beginning on. */
  byte[] take(MemoryRegion source, int offset, int payloadLength) {
    if (bytes.length < payloadLength) {
      bytes = new byte[Integer.highestOneBit(payloadLength - 1) << 1];
    }
    source.getBytes(offset, bytes, 0, payloadLength);
    length = payloadLength;
    return bytes;
  }

  @Override
  public int length() {
    return length;
  }

  @Override
  public long getLong(int index) {
    return (long) LONG.get(bytes, Objects.checkFromIndexSize(index, Long.BYTES, length));
  }

  @Override
  public int getInt(int index) {
    return (int) INT.get(bytes, Objects.checkFromIndexSize(index, Integer.BYTES, length));
  }

  @Override
  public long getLongAcquire(int index) {
    return getLong(index);
  }

  @Override
  public int getIntAcquire(int index) {
    return getInt(index);
  }

  @Override
  public void getBytes(int index, byte[] destination, int offset, int count) {
    System.arraycopy(
        bytes, Objects.checkFromIndexSize(index, count, length), destination, offset, count);
  }

  @Override
  public void putLong(int index, long value) {
    throw readOnly();
  }

  @Override
  public void putInt(int index, int value) {
    throw readOnly();
  }

  @Override
  public void putLongRelease(int index, long value) {
    throw readOnly();
  }

  @Override
  public void putIntRelease(int index, int value) {
    throw readOnly();
  }

  @Override
  public void putBytes(int index, byte[] source, int offset, int count) {
    throw readOnly();
  }

  @Override
  public void fullFence() {
    throw readOnly();
  }

  private static UnsupportedOperationException readOnly() {
    return new UnsupportedOperationException("a copy of a payload is to be loaded from only");
  }

  @Override
  public void verify() {} // nobody can take it away
}
