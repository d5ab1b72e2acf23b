package dev.ringfetch.index.filter;

import dev.ringfetch.index.v1.Field;
import java.nio.ByteOrder;

/**
 * The place of a field in entries, and what its bytes mean. Reads it out of the bytes of an entry,
 * whose value follows its key.
 *
 * <p>Immutable; safe for use by many threads. Allocates nothing.
 */
final class EntryField {
  /** Result of {@link #begin}: the entry has no such field. */
  static final int ABSENT = -1;

  private final Field.Source source;
  private final Field.Encoding encoding;
  private final int offset;
  private final int length;
  private final boolean bigEndian;

  /**
   * Creates the field of a message.
   *
   * @throws IllegalArgumentException if the message describes none
   */
  EntryField(Field message) {
    source = message.getSource();
    encoding = source == Field.Source.VERSION ? Field.Encoding.UNSIGNED : message.getEncoding();
    offset = message.getOffset();
    length = source == Field.Source.VERSION ? Long.BYTES : message.getLength();
    bigEndian = message.getBigEndian() || encoding == Field.Encoding.ORDERED;
    if (source == Field.Source.UNRECOGNIZED || encoding == Field.Encoding.UNRECOGNIZED) {
      throw new IllegalArgumentException(
          "unknown source or encoding of a field: source="
              + message.getSourceValue()
              + " encoding="
              + message.getEncodingValue());
    }
    if (offset < 0 || length < 0) {
      throw new IllegalArgumentException(
          "offset="
              + Integer.toUnsignedString(offset)
              + " length="
              + Integer.toUnsignedString(length)
              + " of a field is beyond "
              + Integer.MAX_VALUE);
    }
    if (source == Field.Source.VERSION
        && (offset != 0 || message.getLength() != 0 || message.getEncodingValue() != 0)) {
      throw new IllegalArgumentException(
          "a version has no offset, length or encoding: offset="
              + offset
              + " length="
              + message.getLength()
              + " encoding="
              + message.getEncodingValue());
    }
    final boolean isLength =
        switch (encoding) {
          case BYTES -> true;
          case FLOATING -> length == Float.BYTES || length == Double.BYTES;
          default -> length >= 1 && length <= Long.BYTES;
        };
    if (!isLength) {
      throw new IllegalArgumentException("length=" + length + " of a field encoding=" + encoding);
    }
  }

  Field.Encoding encoding() {
    return encoding;
  }

  boolean isFloating() {
    return encoding == Field.Encoding.FLOATING;
  }

  boolean isUnsigned() {
    return encoding == Field.Encoding.UNSIGNED;
  }

  /** Where the field begins in the array of an entry, or {@link #ABSENT}. */
  int begin(int keyOffset, int keyLength, int valueLength) {
    if (source == Field.Source.VERSION) {
      return keyOffset;
    }
    final boolean ofKey = source == Field.Source.KEY;
    final int left = (ofKey ? keyLength : valueLength) - offset;
    final int least = encoding == Field.Encoding.BYTES ? 0 : length;
    return left < least ? ABSENT : keyOffset + (ofKey ? 0 : keyLength) + offset;
  }

  /** Where a field of bytes that begins at this place ends. */
  int end(int begin, int keyOffset, int keyLength, int valueLength) {
    final int all = keyOffset + keyLength + (source == Field.Source.KEY ? 0 : valueLength);
    return length == 0 || length > all - begin ? all : begin + length;
  }

  /** The bytes of a number, the sign of which is extended unless it is unsigned. */
  long integer(byte[] array, int begin, long version) {
    if (source == Field.Source.VERSION) {
      return version;
    }
    long bits = 0;
    for (int i = 0; i < length; i++) {
      bits = (bits << 8) | (array[bigEndian ? begin + i : begin + length - 1 - i] & 0xFF);
    }
    final int unused = Long.SIZE - length * 8;
    return switch (encoding) {
      case ORDERED -> ((bits << unused) ^ Long.MIN_VALUE) >> unused;
      case SIGNED -> (bits << unused) >> unused;
      default -> bits;
    };
  }

  /** A floating-point number. */
  double floating(byte[] array, int begin) {
    final long bits = integer(array, begin, 0);
    return length == Double.BYTES
        ? Double.longBitsToDouble(bits)
        : Float.intBitsToFloat((int) bits);
  }

  @Override
  public String toString() {
    return source
        + (source == Field.Source.VERSION
            ? ""
            : "[" + offset + ", " + length + "] " + encoding + (isNumber() ? " " + order() : ""));
  }

  private boolean isNumber() {
    return encoding != Field.Encoding.BYTES;
  }

  private ByteOrder order() {
    return bigEndian ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
  }
}
