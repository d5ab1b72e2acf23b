package dev.ringfetch.benchmarks;

/**
 * Messages of Index.Get as the bytes that protobuf makes of them, written and read in place, as an
 * application may do that needs no message objects.
 *
 * <pre>
 *    GetRequest                      GetResponse
 *   +------+--------+-----+         +------+--------+-------------------------------------------+
 *   | 0x12 | length | key |         | 0x0A | length | Entry                                     |
 *   +------+--------+-----+         |      |        | 0x0A | length | key | 0x12 | length | value |
 *                                   +------+--------+-------------------------------------------+
 * </pre>
 *
 * <p>Lengths are varints. An entry may have further fields behind the value.
 */
final class GetMessages {
  private static final int KEY_OF_REQUEST = (2 << 3) | 2;
  private static final int ENTRY = (1 << 3) | 2;
  private static final int KEY = (1 << 3) | 2;
  private static final int VALUE = (2 << 3) | 2;
  private static final int MORE = 0x80;
  private static final int BITS = 7;
  private static final int MAX_KEY_LENGTH = MORE - 1; // whose length takes a byte

  private GetMessages() {}

  /**
   * Writes a request for an entry of the default index.
   *
   * @return length of the request in bytes.
   */
  static int putRequest(byte[] request, byte[] key) {
    if (key.length > MAX_KEY_LENGTH) {
      throw new IllegalArgumentException("length=" + key.length);
    }
    request[0] = (byte) KEY_OF_REQUEST;
    request[1] = (byte) key.length;
    System.arraycopy(key, 0, request, 2, key.length);
    return 2 + key.length;
  }

  /** Whether the entry of a response has a value of this length with this last byte. */
  static boolean isAnswer(byte[] response, int offset, int responseLength, int length, byte last) {
    final int entry = skipTag(response, offset, ENTRY);
    final int entryLength = varint(response, entry);
    final int key = skipTag(response, entry + varintLength(entryLength), KEY);
    final int keyLength = varint(response, key);
    final int value = skipTag(response, key + varintLength(keyLength) + keyLength, VALUE);
    final int valueLength = varint(response, value);
    final int end = value + varintLength(valueLength) + valueLength;
    return valueLength == length && end <= offset + responseLength && response[end - 1] == last;
  }

  private static int skipTag(byte[] bytes, int index, int tag) {
    if (bytes[index] != tag) {
      throw new IllegalStateException(
          "tag=" + bytes[index] + " in place of " + tag + " at " + index);
    }
    return index + 1;
  }

  private static int varint(byte[] bytes, int index) {
    int value = 0;
    for (int i = 0; ; i++) {
      final int part = bytes[index + i];
      value |= (part & (MORE - 1)) << (i * BITS);
      if ((part & MORE) == 0) {
        return value;
      }
    }
  }

  private static int varintLength(int value) {
    int length = 1;
    for (int left = value >>> BITS; left != 0; left >>>= BITS) {
      length++;
    }
    return length;
  }
}
