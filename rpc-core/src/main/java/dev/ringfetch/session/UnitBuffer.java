package dev.ringfetch.session;

import dev.ringfetch.fabric.MemoryRegion;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * The bytes of one unit (a request or a response: its sections, then its message) in private
 * memory. Reused from call to call; memory beyond {@link #RETAINED_LENGTH} is given back in
 * between.
 *
 * <p>Not thread-safe: it belongs to whoever owns the stream.
 */
public final class UnitBuffer {
  /** Bytes in front of the unit, where the first frame of a chain carries the unit's length. */
  static final int HEADROOM = Integer.BYTES;

  /** Capacity that a buffer keeps from call to call, in bytes. */
  static final int RETAINED_LENGTH = 8 * 1024;

  private static final int INITIAL_LENGTH = 256;
  static final int MAX_LENGTH = Integer.MAX_VALUE - 64;

  private byte[] bytes = new byte[INITIAL_LENGTH];
  private int end = HEADROOM;

  /** Array that holds the unit; valid until the next call that adds to it. */
  public byte[] array() {
    return bytes;
  }

  /** Index of the unit's first byte in {@link #array()}. */
  public int offset() {
    return HEADROOM;
  }

  /** Length of the unit in bytes. */
  public int length() {
    return end - HEADROOM;
  }

  /** Sets {@link #length()} to what it was, dropping what was added since. */
  public void truncate(int length) {
    if (length < 0 || length > length()) {
      throw new IllegalArgumentException("length=" + length + " of " + length());
    }
    end = HEADROOM + length;
  }

  /** Empties the buffer. */
  public void clear() {
    end = HEADROOM;
    if (bytes.length > RETAINED_LENGTH) {
      bytes = new byte[INITIAL_LENGTH];
    }
  }

  /**
   * Makes room for more bytes and counts them in: the caller stores them.
   *
   * @return index in {@link #array()} of the first.
   */
  public int extend(int length) {
    final int start = end;
    final long needed = (long) end + length;
    if (needed > bytes.length) {
      bytes = Arrays.copyOf(bytes, capacity(needed, bytes.length));
    }
    end = (int) needed;
    return start;
  }

  /** How long an array becomes that must hold this much. */
  static int capacity(long needed, int before) {
    if (needed > MAX_LENGTH) {
      throw new IllegalStateException("unit is too long: length=" + needed);
    }
    return (int) Math.min(MAX_LENGTH, Math.max(needed, 2L * before));
  }

  /** Makes room so that this many bytes can be added without growing. */
  public void reserve(int length) {
    final int before = end;
    extend(length);
    end = before;
  }

  /** Adds a 16-bit number. */
  public void addShort(int value) {
    final int index = extend(Short.BYTES);
    bytes[index] = (byte) value;
    bytes[index + 1] = (byte) (value >>> 8);
  }

  /** Adds a 32-bit number. */
  public void addInt(int value) {
    final int index = extend(Integer.BYTES);
    setInt(index, value);
  }

  /** Stores a 32-bit number at an index of {@link #array()}. */
  public void setInt(int index, int value) {
    bytes[index] = (byte) value;
    bytes[index + 1] = (byte) (value >>> 8);
    bytes[index + 2] = (byte) (value >>> 16);
    bytes[index + 3] = (byte) (value >>> 24);
  }

  /** Adds a 64-bit number. */
  public void addLong(long value) {
    addInt((int) value);
    addInt((int) (value >>> 32));
  }

  /** Adds bytes. */
  public void addBytes(byte[] source, int offset, int length) {
    final int index = extend(length);
    System.arraycopy(source, offset, bytes, index, length);
  }

  /** Adds bytes out of shared memory. */
  void addBytes(MemoryRegion source, int index, int length) {
    final int start = extend(length);
    source.getBytes(index, bytes, start, length);
  }

  /** Stores the unit's length in front of it, for the first frame of a chain. */
  void storeLength() {
    setInt(0, length());
  }

  /** The 64-bit number that starts this many bytes into the unit. */
  long getLong(int index) {
    return view().getLong(HEADROOM + index);
  }

  /** A view of the unit for reading, little-endian. */
  public ByteBuffer view() {
    return ByteBuffer.wrap(bytes, HEADROOM, length()).order(ByteOrder.LITTLE_ENDIAN);
  }
}
