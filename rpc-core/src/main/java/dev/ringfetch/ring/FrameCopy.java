package dev.ringfetch.ring;

import dev.ringfetch.fabric.MemoryRegion;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The private copy of a payload, which the peer cannot change any more: so the checked bytes are
 * the ones handed out. Each payload replaces the one before; the memory grows to the longest.
 *
 * <p>For frame handlers it is a region to load from. Memory order does not matter, and words need
 * not be aligned.
 */
final class FrameCopy implements MemoryRegion {
  private static final int MIN_LENGTH = 1024;

  private byte[] bytes;
  private ByteBuffer payload; // of the bytes, up to its limit

  FrameCopy() {
    allocate(MIN_LENGTH);
  }

  private void allocate(int length) {
    bytes = new byte[length];
    payload = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Copies a payload, and returns the array that holds it from its beginning on. */
  byte[] take(MemoryRegion source, int offset, int payloadLength) {
    if (bytes.length < payloadLength) {
      allocate(Integer.highestOneBit(payloadLength - 1) << 1);
    }
    source.getBytes(offset, bytes, 0, payloadLength);
    payload.limit(payloadLength);
    return bytes;
  }

  @Override
  public int length() {
    return payload.limit();
  }

  @Override
  public long getLong(int index) {
    return payload.getLong(index);
  }

  @Override
  public int getInt(int index) {
    return payload.getInt(index);
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
    payload.get(index, destination, offset, count);
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
  public void verify() {} // no peer can take it away
}
