package dev.ringfetch.benchmarks.stores;

import com.google.protobuf.ByteString;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The entries that all stores have: the bytes of a number's key and value, and the check that a
 * value belongs to its key.
 *
 * <pre>
 *    key                 value
 *   +------------------+------------------+---------+-------------------------+
 *   | 16 hex digits of | the key          | stamp   | stamp ^ mixed number    |
 *   | the mixed number | (16 bytes)       | (8)     | (8)                     |
 *   +------------------+------------------+---------+-------------------------+
 * </pre>
 *
 * <p>Keys are text, because memcached takes nothing else. Mixing is one-to-one, so keys differ.
 */
final class Entries {
  /** Length of a key in bytes. */
  static final int KEY_LENGTH = 16;

  /** Length of a value in bytes. */
  static final int VALUE_LENGTH = 32;

  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private static final int STAMP = 16;
  private static final int MIXED = 24;
  private static final long BYTES = 0x0101010101010101L;
  private static final long NIBBLES = 0x0F0F0F0F0F0F0F0FL;

  /** Where so many are expected at least, a scan is not near the end: by many deviations. */
  private static final int FEW = 100;

  private static final int TO_LETTERS = 'a' - '9' - 1;

  private Entries() {}

  /** Writes the key of a number. */
  static void putKey(long number, byte[] key) {
    final long mixed = mix(number);
    LONGS.set(key, 0, digits(mixed >>> 32));
    LONGS.set(key, Long.BYTES, digits(mixed & 0xFFFFFFFFL));
  }

  /** The key of a number, as protobuf has it. */
  static ByteString key(long number, byte[] scratch) {
    putKey(number, scratch);
    return ByteString.copyFrom(scratch, 0, KEY_LENGTH);
  }

  /** Writes a value of a number; the stamp tells one write from another. */
  static void putValue(long number, long stamp, byte[] value) {
    putKey(number, value);
    LONGS.set(value, STAMP, stamp);
    LONGS.set(value, MIXED, stamp ^ mix(number));
  }

  /** A value of a number, as protobuf has it. */
  static ByteString value(long number, long stamp, byte[] scratch) {
    putValue(number, stamp, scratch);
    return ByteString.copyFrom(scratch, 0, VALUE_LENGTH);
  }

  /** Whether bytes are a value of this number, whichever write it is of. */
  static boolean isValue(long number, byte[] array, int offset, int length) {
    if (length != VALUE_LENGTH) {
      return false;
    }
    final long mixed = mix(number);
    return getLong(array, offset) == digits(mixed >>> 32)
        && getLong(array, offset + Long.BYTES) == digits(mixed & 0xFFFFFFFFL)
        && (getLong(array, offset + STAMP) ^ getLong(array, offset + MIXED)) == mixed;
  }

  /**
   * Whether a scan may have found so many entries: fewer than the limit only near the end.
   *
   * @param found by a scan from this number's entry on.
   * @param entries of the store, at least.
   */
  static boolean isEnough(int found, long number, int entries, int limit) {
    if (found == limit) {
      return true;
    }
    // Keys are as good as random, so that the expected ones behind this one are known.
    final double behind = entries * ((~mix(number) >>> 1) / (double) Long.MAX_VALUE);
    return found > 0 && found < limit && behind < 2.0 * limit + FEW;
  }

  /** Whether bytes are a value of a key, whichever write it is of. */
  static boolean isValueOf(
      byte[] keys, int keyOffset, byte[] values, int valueOffset, int valueLength) {
    final long high = getLong(keys, keyOffset);
    final long low = getLong(keys, keyOffset + Long.BYTES);
    return valueLength == VALUE_LENGTH
        && getLong(values, valueOffset) == high
        && getLong(values, valueOffset + Long.BYTES) == low
        && (getLong(values, valueOffset + STAMP) ^ getLong(values, valueOffset + MIXED))
            == (bits(high) << 32 | bits(low));
  }

  /** Compares a key with another. */
  static int compareKeys(byte[] keys, int offset, byte[] other) {
    final int order = Long.compareUnsigned(getLong(keys, offset), getLong(other, 0));
    return order != 0
        ? order
        : Long.compareUnsigned(getLong(keys, offset + Long.BYTES), getLong(other, Long.BYTES));
  }

  /** The 32 bits of eight hex digits: what {@link #digits} made. */
  private static long bits(long digits) {
    final long letters = (digits >>> 6) & BYTES;
    long nibbles = (digits & NIBBLES) + letters * 9;
    nibbles = (nibbles | (nibbles >>> 4)) & 0x00FF00FF00FF00FFL;
    nibbles = (nibbles | (nibbles >>> 8)) & 0x0000FFFF0000FFFFL;
    return (nibbles | (nibbles >>> 16)) & 0xFFFFFFFFL;
  }

  private static long getLong(byte[] array, int index) {
    return (long) LONGS.get(array, index);
  }

  /** The finalizer of SplitMix64 (Steele, Lea, Flood: OOPSLA 2014), which is one-to-one. */
  private static long mix(long number) {
    long mixed = number + 0x9E3779B97F4A7C15L;
    mixed = (mixed ^ (mixed >>> 30)) * 0xBF58476D1CE4E5B9L;
    mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
    return mixed ^ (mixed >>> 31);
  }

  /** The eight hex digits of 32 bits as ASCII, the first in the highest byte. */
  private static long digits(long bits) {
    long spread = (bits | (bits << 16)) & 0x0000FFFF0000FFFFL;
    spread = (spread | (spread << 8)) & 0x00FF00FF00FF00FFL;
    spread = (spread | (spread << 4)) & NIBBLES;
    final long letters = ((spread + 6 * BYTES) >>> 4) & BYTES;
    return spread + '0' * BYTES + letters * TO_LETTERS;
  }
}
