package dev.ringfetch.protocol;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A reader of values in protobuf's encoding; it trusts none of the bytes. */
final class Decoder {
  /** Forms of a value: what a tag says of the bytes behind it. */
  static final int VARINT = 0;

  static final int FIXED64 = 1;
  static final int BYTES = 2;
  static final int FIXED32 = 5;

  private static final int MAX_VARINT_BITS = 70; // ten bytes of seven

  private final byte[] encoded;
  private int position;

  Decoder(byte[] encoded) {
    this.encoded = encoded;
  }

  boolean hasMore() {
    return position < encoded.length;
  }

  /** Takes an unsigned number; of one with more than 32 bits the low ones, as protobuf does. */
  int varint() throws MalformedMessageException {
    long value = 0;
    for (int shift = 0; shift < MAX_VARINT_BITS; shift += 7) {
      final byte next = encoded[advance(1)];
      if (shift < Long.SIZE) {
        value |= (next & 0x7FL) << shift;
      }
      if (next >= 0) {
        return (int) value;
      }
    }
    throw new MalformedMessageException("a number has more than 10 bytes: position=" + position);
  }

  /** Takes a number of eight bytes. */
  long fixed64() throws MalformedMessageException {
    final int start = advance(Long.BYTES);
    long value = 0;
    for (int i = Long.BYTES - 1; i >= 0; i--) {
      value = (value << Byte.SIZE) | (encoded[start + i] & 0xFF);
    }
    return value;
  }

  /** Takes bytes behind their length. */
  byte[] bytes() throws MalformedMessageException {
    final int length = varint();
    final int start = advance(length);
    return Arrays.copyOfRange(encoded, start, start + length);
  }

  /** Takes text behind its length. */
  String string() throws MalformedMessageException {
    final int length = varint();
    final int start = advance(length);
    try {
      return StandardCharsets.UTF_8
          .newDecoder() // throws on invalid text
          .decode(ByteBuffer.wrap(encoded, start, length))
          .toString();
    } catch (CharacterCodingException e) {
      throw new MalformedMessageException("text is not UTF-8: position=" + start);
    }
  }

  /** Passes over a value of a field that this version does not know. */
  void skip(int form) throws MalformedMessageException {
    switch (form) {
      case VARINT -> varint();
      case FIXED64 -> advance(Long.BYTES);
      case BYTES -> advance(varint());
      case FIXED32 -> advance(Integer.BYTES);
      default ->
          throw new MalformedMessageException(
              "unknown wire type=" + form + " before position=" + position);
    }
  }

  /** Passes over so many bytes; returns the position of the first. */
  private int advance(int length) throws MalformedMessageException {
    if (length < 0 || length > encoded.length - position) {
      throw new MalformedMessageException(
          "the message ends within a value: length="
              + Integer.toUnsignedString(length)
              + " position="
              + position
              + " of "
              + encoded.length);
    }
    final int start = position;
    position += length;
    return start;
  }
}
