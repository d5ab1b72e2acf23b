package dev.ringfetch.index.layout;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The order of keys in an ordered index, by their unsigned bytes, and the parts of a key in a
 * reference: a head, which is the key's first 8 bytes, and a code of its length. Two keys of at
 * most 8 bytes are compared by head and code alone.
 *
 * <p>The head of a shorter key is padded with zeros. If heads are equal, the shorter key is a
 * prefix of the longer one, and so comes first.
 */
public final class KeyOrder {
  /** Length of a head in bytes. */
  public static final int HEAD_LENGTH = Long.BYTES;

  /** Code of all keys that are longer than their heads; shorter ones have their length as code. */
  public static final int LONG = HEAD_LENGTH + 1;

  /** Code of the end, which comes after all keys; its head is {@link #END_HEAD}. */
  public static final int END = 15;

  /** Head of the end, which comes after all keys. */
  public static final long END_HEAD = -1;

  /** Returned by {@link #compare}: both keys are long and have the same head. */
  public static final int UNKNOWN = 2;

  private static final VarHandle BIG_ENDIAN =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private KeyOrder() {}

  /** Head of a key; heads are compared as unsigned numbers. */
  public static long head(byte[] bytes, int offset, int length) {
    if (length >= HEAD_LENGTH) {
      return (long) BIG_ENDIAN.get(bytes, offset);
    }
    long head = 0;
    for (int i = 0; i < length; i++) {
      head |= (bytes[offset + i] & 0xFFL) << (56 - i * Byte.SIZE);
    }
    return head;
  }

  /** Code of the length of a key. */
  public static int code(int length) {
    return Math.min(length, LONG);
  }

  /** Writes the key with that head and code, which is not {@link #LONG}, into an array. */
  public static void putKey(byte[] bytes, int offset, long head, int code) {
    for (int i = 0; i < code; i++) {
      bytes[offset + i] = (byte) (head >>> (56 - i * Byte.SIZE));
    }
  }

  /**
   * Compares two keys by their heads and codes.
   *
   * @return -1, 0 or 1 as the first key is less than, equal to or greater than the second; or
   *     {@link #UNKNOWN}
   */
  public static int compare(long head1, int code1, long head2, int code2) {
    if (head1 != head2) {
      return Long.compareUnsigned(head1, head2) < 0 ? -1 : 1;
    }
    if (code1 == LONG && code2 == LONG) {
      return UNKNOWN;
    }
    return Integer.compare(code1, code2);
  }
}
