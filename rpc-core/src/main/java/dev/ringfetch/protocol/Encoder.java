package dev.ringfetch.protocol;

import java.io.ByteArrayOutputStream;

/** A sink for values in protobuf's encoding. */
final class Encoder {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();

  /** Appends what stands before each value: its field's number and the form of what follows. */
  Encoder tag(int number, int form) {
    varint((number << 3) | form);
    return this;
  }

  /** Appends an unsigned number of 32 bits, seven bits a byte, the lowest first. */
  void varint(int value) {
    int rest = value;
    while ((rest & ~0x7F) != 0) {
      out.write((rest & 0x7F) | 0x80);
      rest >>>= 7;
    }
    out.write(rest);
  }

  /** Appends a number of eight bytes, the lowest first. */
  void fixed64(long value) {
    for (int shift = 0; shift < Long.SIZE; shift += Byte.SIZE) {
      out.write((int) (value >>> shift));
    }
  }

  /** Appends bytes behind their length. */
  void bytes(byte[] value) {
    varint(value.length);
    out.writeBytes(value);
  }

  byte[] toByteArray() {
    return out.toByteArray();
  }
}
