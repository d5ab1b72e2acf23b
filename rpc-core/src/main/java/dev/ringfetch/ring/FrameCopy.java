package dev.ringfetch.ring;

import dev.ringfetch.fabric.MemoryRegion;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A payload in private memory, where nobody can change it any more: what was checked is what is
 * handed out. Each payload replaces the one before; the memory grows to the longest.
 *
 * <p>To those that a frame is handed to it is memory to load from. Order is no matter, and words
 * need not be aligned.
 */
final class FrameCopy implements MemoryRegion {
  private static final int MIN_LENGTH = 1024;

  private ByteBuffer bytes = allocate(MIN_LENGTH); // up to its limit

  private static ByteBuffer allocate(int length) {
    return ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Copies a payload, and returns the array that holds it from its beginning on. */
  byte[] take(MemoryRegion source, int offset, int payloadLength) {
    if (bytes.capacity() < payloadLength) {
      bytes = allocate(Integer.highestOneBit(payloadLength - 1) << 1);
    }
    bytes.limit(payloadLength);
    source.getBytes(offset, bytes.array(), 0, payloadLength);
    return bytes.array();
  }

  @Override
  public int length() {
    return bytes.limit();
  }

  @Override
  public long getLong(int index) {
    return bytes.getLong(index);
  }

  @Override
  public int getInt(int index) {
    return bytes.getInt(index);
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
    bytes.get(index, destination, offset, count);
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
