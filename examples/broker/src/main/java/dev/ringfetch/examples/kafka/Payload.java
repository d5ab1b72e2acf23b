package dev.ringfetch.examples.kafka;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;

/**
 * The bytes of a record in a log: key, value and headers. A length of -1 stands for null, which the
 * key of a header never is.
 *
 * <pre>
 * byte   version, 1
 * int    length of the key, and the key
 * int    length of the value, and the value
 * short  number of headers; of each: short length and UTF-8 of its key, int length and its value
 * </pre>
 *
 * @param key null if there is none
 * @param value null if there is none
 */
@SuppressWarnings("ArrayRecordComponent") // of Kafka's serializers; two payloads are not compared
record Payload(byte[] key, byte[] value, Headers headers) {
  private static final byte VERSION = 1;
  private static final int NULL = -1;
  private static final int FIXED_BYTES = Byte.BYTES + 2 * Integer.BYTES + Short.BYTES;
  private static final int HEADER_BYTES = Short.BYTES + Integer.BYTES;

  /** The length of the bytes of a payload without headers. */
  static int length(byte[] key, byte[] value) {
    return FIXED_BYTES + (key == null ? 0 : key.length) + (value == null ? 0 : value.length);
  }

  /** Encodes this payload. */
  ByteString encoded() {
    final Header[] all = headers.toArray();
    if (all.length > Short.MAX_VALUE) {
      throw new IllegalArgumentException(
          "headers=" + all.length + " exceed the limit=" + Short.MAX_VALUE);
    }
    final byte[][] names = new byte[all.length][];
    int length = length(key, value);
    for (int i = 0; i < all.length; i++) {
      names[i] = all[i].key().getBytes(StandardCharsets.UTF_8);
      if (names[i].length > Short.MAX_VALUE) {
        throw new IllegalArgumentException(
            "the key of a header has bytes=" + names[i].length + " limit=" + Short.MAX_VALUE);
      }
      final byte[] content = all[i].value();
      length += HEADER_BYTES + names[i].length + (content == null ? 0 : content.length);
    }
    final ByteBuffer buffer = ByteBuffer.allocate(length).put(VERSION);
    put(buffer, key);
    put(buffer, value);
    buffer.putShort((short) all.length);
    for (int i = 0; i < all.length; i++) {
      buffer.putShort((short) names[i].length).put(names[i]);
      put(buffer, all[i].value());
    }
    return UnsafeByteOperations.unsafeWrap(buffer.flip()); // nobody else has the buffer
  }

  private static void put(ByteBuffer buffer, byte[] bytes) {
    if (bytes == null) {
      buffer.putInt(NULL);
    } else {
      buffer.putInt(bytes.length).put(bytes);
    }
  }

  /**
   * Decodes what {@link #encoded} wrote.
   *
   * @throws IllegalArgumentException if the bytes are those of no payload.
   */
  static Payload decoded(ByteString bytes) {
    final ByteBuffer buffer = bytes.asReadOnlyByteBuffer();
    try {
      final byte version = buffer.get();
      if (version != VERSION) {
        throw new IllegalArgumentException("no record of a producer: version=" + version);
      }
      final byte[] key = take(buffer, buffer.getInt());
      final byte[] value = take(buffer, buffer.getInt());
      final RecordHeaders headers = new RecordHeaders();
      for (int left = buffer.getShort(); left > 0; left--) {
        final byte[] name = bytes(buffer, buffer.getShort());
        headers.add(new String(name, StandardCharsets.UTF_8), take(buffer, buffer.getInt()));
      }
      return new Payload(key, value, headers);
    } catch (java.nio.BufferUnderflowException e) {
      throw new IllegalArgumentException("no record of a producer: bytes=" + bytes.size(), e);
    }
  }

  private static byte[] take(ByteBuffer buffer, int length) {
    return length == NULL ? null : bytes(buffer, length);
  }

  private static byte[] bytes(ByteBuffer buffer, int length) {
    if (length < 0 || length > buffer.remaining()) {
      throw new IllegalArgumentException("no record of a producer: length=" + length);
    }
    final byte[] bytes = new byte[length];
    buffer.get(bytes);
    return bytes;
  }
}
