package dev.ringfetch.benchmarks.bulk;

/** The payload of messages: a few of its bytes show whether all arrived where they belong. */
final class Payload {
  private static final int STEP = 31;
  private static final int START = 7;

  private Payload() {}

  /** A payload of some length. */
  static byte[] of(int length) {
    final byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[i] = at(i, length);
    }
    return bytes;
  }

  /** The byte at an index of a payload of some length. */
  static byte at(int index, int length) {
    return (byte) (index * STEP + START + length);
  }

  /** Throws unless the bytes at both ends and in the middle are those of a payload. */
  static void check(Bytes bytes, int length) {
    check(bytes, 0, length);
    check(bytes, length / 2, length);
    check(bytes, length - 1, length);
  }

  /** Numbers a payload, at both ends: an array that is used again must not pass for a new one. */
  static void stamp(byte[] bytes, long number) {
    bytes[0] = (byte) number;
    bytes[bytes.length - 1] = (byte) number;
  }

  /** Throws unless the bytes are those of a payload with this number. */
  static void checkStamped(byte[] bytes, long number) {
    final byte last = bytes[bytes.length - 1];
    if (bytes[0] != (byte) number || last != (byte) number) {
      throw new IllegalStateException(
          "not what was sent: " + bytes[0] + " .. " + last + " in message " + number);
    }
    check(index -> bytes[index], bytes.length / 2, bytes.length);
  }

  private static void check(Bytes bytes, int index, int length) {
    if (bytes.at(index) != at(index, length)) {
      throw new IllegalStateException("not what was sent: byte " + index + " of " + length);
    }
  }

  /** Bytes that can be read one by one. */
  @FunctionalInterface
  interface Bytes {
    /** The byte at an index. */
    byte at(int index);
  }
}
