package dev.ringfetch.index.linearizability;

import com.google.protobuf.ByteString;

/**
 * The values that tests write: each has a number, by which histories know it, and bytes that follow
 * from the number, some short, some of several KiB. No two writes of a test have the same.
 */
final class Values {
  private static final int SHORT_MASK = 31;

  /** One in so many is long: more than one frame's slot, and on gRPC more than one buffer. */
  private static final int LONG_EVERY = 61;

  private static final int LONG_LENGTH = 5000;
  private static final int SEQUENCE_BITS = 40;

  private Values() {}

  /** Number of the n-th value of a client. */
  static long number(int client, long n) {
    return ((long) client << SEQUENCE_BITS) | n;
  }

  /** As people read it: the client and its count. */
  static String text(long number) {
    return number == 0
        ? "-"
        : (number >> SEQUENCE_BITS) + "/" + (number & ((1L << SEQUENCE_BITS) - 1));
  }

  static ByteString bytes(long number) {
    final byte[] bytes =
        new byte[Long.BYTES + (number % LONG_EVERY == 0 ? LONG_LENGTH : (int) number & SHORT_MASK)];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (i < Long.BYTES ? number >> (i * Byte.SIZE) : number + i);
    }
    return ByteString.copyFrom(bytes);
  }

  /** The number of a value, all of whose bytes must be those that follow from it. */
  static long number(ByteString bytes) {
    long number = 0;
    for (int i = 0; i < Math.min(Long.BYTES, bytes.size()); i++) {
      number |= (bytes.byteAt(i) & 0xffL) << (i * Byte.SIZE);
    }
    if (!bytes(number).equals(bytes)) {
      throw new AssertionError("a value that nobody wrote: " + bytes);
    }
    return number;
  }
}
