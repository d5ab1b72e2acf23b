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
