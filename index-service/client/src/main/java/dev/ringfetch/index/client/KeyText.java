package dev.ringfetch.index.client;

import com.google.protobuf.ByteString;

/** The text of a key's bytes in exceptions: quoted, escaped, and of bounded length. */
final class KeyText {
  /** Bytes of a key that are printed. */
  static final int LIMIT = 64;

  private KeyText() {}

  static String of(ByteString key) {
    final int shown = Math.min(key.size(), LIMIT);
    final StringBuilder text = new StringBuilder(shown + 2).append('"');
    for (int i = 0; i < shown; i++) {
      final int b = Byte.toUnsignedInt(key.byteAt(i));
      if (b == '"' || b == '\\') {
        text.append('\\').append((char) b);
      } else if (b >= ' ' && b < 0x7F) {
        text.append((char) b);
      } else {
        text.append(String.format("\\x%02x", b));
      }
    }
    text.append('"');
    return shown == key.size() ? text.toString() : text + "... (" + key.size() + " bytes)";
  }
}
