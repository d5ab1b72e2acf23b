package dev.ringfetch.index.layout;

import com.google.protobuf.ByteString;

/** The bounds of ranges of keys that have a first key, an end and a prefix, any of them empty. */
public final class KeyBounds {
  /** Longest start or end of a range: the next key after a key of the greatest length. */
  public static final int MAX_LENGTH = BlockDescriptor.MAX_KEY_LENGTH + 1;

  private KeyBounds() {}

  /** The first key of a range: not before its start, nor before its prefix. */
  public static ByteString start(ByteString start, ByteString prefix) {
    return compare(start, prefix) > 0 ? start : prefix;
  }

  /** The first key beyond a range, by its end and its prefix; empty if there is none. */
  public static ByteString end(ByteString end, ByteString prefix) {
    final ByteString afterPrefix = after(prefix);
    if (end.isEmpty()) {
      return afterPrefix;
    }
    return afterPrefix.isEmpty() || compare(end, afterPrefix) < 0 ? end : afterPrefix;
  }

  /** The first key after all that begin with a prefix; empty if there is none. */
  public static ByteString after(ByteString prefix) {
    int length = prefix.size();
    while (length > 0 && prefix.byteAt(length - 1) == (byte) 0xFF) {
      length--;
    }
    if (length == 0) {
      return ByteString.EMPTY;
    }
    final byte[] after = prefix.substring(0, length).toByteArray();
    after[length - 1]++;
    return ByteString.copyFrom(after);
  }

  /** Compares two keys by their bytes, taken as unsigned. */
  public static int compare(ByteString a, ByteString b) {
    return ByteString.unsignedLexicographicalComparator().compare(a, b);
  }
}
