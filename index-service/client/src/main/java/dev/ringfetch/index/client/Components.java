package dev.ringfetch.index.client;

import com.google.protobuf.ByteString;

/**
 * The encoding of a composite key's components, one after another, so that the bytes of the whole
 * have the order of the components.
 *
 * <p>A component of fixed length, and the last one, stand as they are. In each other one, a zero
 * byte becomes {@code 00 FF}, and {@code 00 01} ends it. So a component that begins with another
 * one comes after it, whatever follows either. Source: CockroachDB, {@code
 * pkg/util/encoding/encoding.go}, EncodeBytesAscending; FoundationDB's tuple layer escapes likewise
 * and ends with a single zero byte, which needs a type code after it.
 */
final class Components {
  private static final int ESCAPE = 0x00;
  private static final int ESCAPED_ZERO = 0xFF;
  private static final int TERMINATOR = 0x01;

  private Components() {}

  /** Appends a component that others follow. */
  static <T> void append(ByteString.Output out, OrderedCodec<T> codec, T component) {
    final ByteString bytes = codec.encode(component);
    for (int i = 0; i < bytes.size(); i++) {
      final byte b = bytes.byteAt(i);
      out.write(b);
      if (b == ESCAPE && codec.fixedLength() == 0) {
        out.write(ESCAPED_ZERO);
      }
    }
    if (codec.fixedLength() == 0) {
      out.write(ESCAPE);
      out.write(TERMINATOR);
    }
  }

  /** Takes the components of a key, in their order. Used by one thread at a time. */
  static final class Cursor {
    private final ByteString key;
    private int position;

    Cursor(ByteString key) {
      this.key = key;
    }

    /** Takes a component that others follow. */
    <T> T next(OrderedCodec<T> codec) {
      return codec.decode(codec.fixedLength() == 0 ? unescaped() : fixed(codec.fixedLength()));
    }

    /** Takes the last component. */
    <T> T last(OrderedCodec<T> codec) {
      return codec.decode(key.substring(position));
    }

    private ByteString fixed(int length) {
      if (length > key.size() - position) {
        throw malformed();
      }
      position += length;
      return key.substring(position - length, position);
    }

    private ByteString unescaped() {
      final ByteString.Output out = ByteString.newOutput();
      while (position < key.size()) {
        final byte b = key.byteAt(position++);
        if (b == ESCAPE) {
          final int next = position < key.size() ? Byte.toUnsignedInt(key.byteAt(position++)) : -1;
          if (next == TERMINATOR) {
            return out.toByteString();
          }
          if (next != ESCAPED_ZERO) {
            throw malformed();
          }
        }
        out.write(b);
      }
      throw malformed();
    }

    private IllegalArgumentException malformed() {
      return new IllegalArgumentException(
          "bytes are no composite key: length=" + key.size() + " position=" + position);
    }
  }
}
