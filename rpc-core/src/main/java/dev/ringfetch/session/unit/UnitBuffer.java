package dev.ringfetch.session.unit;

import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.session.bulk.ArrayPool;
import dev.ringfetch.session.bulk.Segment;
import dev.ringfetch.session.bulk.Segments;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of one unit (a request or a response: its sections, then its message) in private
 * memory. Reused from call to call; memory beyond {@link #RETAINED_LENGTH} is given back in
 * between.
 *
 * <p>Not thread-safe: used by the owner of the stream.
 */
public final class UnitBuffer {
  /** Bytes in front of the unit, where the first frame of a chain carries the unit's length. */
  public static final int HEADROOM = Integer.BYTES;

  /** Capacity that a buffer keeps from call to call, in bytes. */
  public static final int RETAINED_LENGTH = 8 * 1024;

  private static final int GROWTH = 4;
  private static final int INITIAL_LENGTH = 256;
  static final int MAX_LENGTH = Integer.MAX_VALUE - 64;

  private byte[] bytes = new byte[INITIAL_LENGTH];
  private int end = HEADROOM;

  // In an outbound unit: its parts in registered memory.
  private Segments segments;

  // In an inbound unit: the pool of its array, and the number of pending reads of the peer's memory
  // that will fill it.
  private ArrayPool arrays;
  private int reads;
  private int generation;

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
    return segments == null ? end - HEADROOM : totalLength();
  }

  private int totalLength() {
    final long total = end - HEADROOM + segments.length();
    if (total > MAX_LENGTH) {
      throw new IllegalStateException("unit is too long: length=" + total);
    }
    return (int) total;
  }

  /** Length of what is in {@link #array()}, in bytes. */
  public int arrayLength() {
    return end - HEADROOM;
  }

  /** The parts in registered memory, if there are any. */
  public @Nullable Segments segments() {
    return segments;
  }

  /**
   * Adds bytes without a copy.
   *
   * @param segment that holds them, with the caller's reference to it.
   * @param offset of the bytes in the segment.
   * @param length in bytes.
   */
  public void addSegment(Segment segment, int offset, int length) {
    if (segments == null) {
      segments = segment.lend(this);
    }
    segments.add(segment, offset, length, arrayLength());
  }

  /** Shortens the part that was added last, whose segment is longer than what it has got. */
  void shortenSegment(int length) {
    segments.shortenLast(length);
  }

  /** Gives back the registered memory that the unit still has: it is sent no more. Idempotent. */
  public void releaseSegments() {
    if (segments != null) {
      segments.release();
    }
  }

  /** A read of the peer's memory will fill a part of the unit. */
  void beginRead() {
    reads++;
  }

  /** One of the reads is done. True when it was the last. */
  boolean endRead() {
    return --reads == 0;
  }

  /** True when reads of the peer's memory have not filled all of the unit. */
  public boolean isReading() {
    return reads != 0;
  }

  /** Grows each time that the buffer is cleared. */
  int generation() {
    return generation;
  }

  /** Sets {@link #length()} to what it was, dropping what was added since. */
  public void truncate(int length) {
    if (segments != null || length < 0 || length > length()) {
      throw new IllegalArgumentException("length=" + length + " of " + length());
    }
    end = HEADROOM + length;
  }

  /** Empties the buffer. */
  public void clear() {
    end = HEADROOM;
    generation++;
    reads = 0;
    if (segments != null) {
      segments.release();
      segments = null;
    }
    if (bytes.length > RETAINED_LENGTH) {
      final byte[] spare = bytes;
      bytes = new byte[INITIAL_LENGTH];
      if (arrays != null) {
        arrays.give(spare);
      }
    }
    arrays = null;
  }

  /** Takes the array out of the buffer, which is empty afterwards. */
  public byte[] detach() {
    final byte[] detached = bytes;
    bytes = new byte[INITIAL_LENGTH];
    end = HEADROOM;
    arrays = null;
    return detached;
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

  /**
   * As {@link #extend(int)}, where it is known how long the unit will be: so much memory is taken
   * at once, if it is not much more than what is there.
   *
   * @param from where long arrays are taken from, and given to when the buffer is cleared.
   */
  int extend(int length, int expected, ArrayPool from) {
    final long needed = (long) end + length;
    if (needed > bytes.length) {
      final byte[] longer = from.take((int) Math.min((long) HEADROOM + expected, GROWTH * needed));
      System.arraycopy(bytes, 0, longer, 0, end);
      if (arrays != null) {
        arrays.give(bytes);
      }
      bytes = longer;
      arrays = from;
    }
    return extend(length);
  }

  /** The new length of an array with at least this capacity. */
  static int capacity(long needed, int before) {
    if (needed > MAX_LENGTH) {
      throw new IllegalStateException("unit is too long: length=" + needed);
    }
    return (int) Math.min(MAX_LENGTH, Math.max(needed, 2L * before));
  }

  /** Gives back the last bytes of what was {@linkplain #extend extended}. */
  public void giveBack(int length) {
    end -= length;
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
  public void storeLength() {
    setInt(0, length());
  }

  /** The 64-bit number that starts this many bytes into the unit. */
  public long getLong(int index) {
    Objects.checkFromIndexSize(index, Long.BYTES, length());
    long value = 0;
    for (int i = Long.BYTES - 1; i >= 0; i--) {
      value = value << Byte.SIZE | (bytes[HEADROOM + index + i] & 0xFF);
    }
    return value;
  }

  /** A view of the unit for reading, little-endian. */
  public ByteBuffer view() {
    return ByteBuffer.wrap(bytes, HEADROOM, length()).order(ByteOrder.LITTLE_ENDIAN);
  }
}
