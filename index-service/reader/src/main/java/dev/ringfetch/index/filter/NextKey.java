package dev.ringfetch.index.filter;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.BlockDescriptor;
import dev.ringfetch.index.v1.Field;

/**
 * The place in entries of a chain at which each has the key of the next one. Immutable; safe for
 * use by many threads.
 */
public final class NextKey {
  /** Limit of the entries of a chain. */
  public static final int MAX_HOPS = 16;

  private final EntryField field;

  /**
   * Creates the place of a message.
   *
   * @throws IllegalArgumentException if it is no field of bytes
   */
  public NextKey(Field message) {
    field = new EntryField(message);
    if (field.encoding() != Field.Encoding.BYTES) {
      throw new IllegalArgumentException("a key cannot be " + field);
    }
  }

  /** The key that follows an entry; empty if there is none. */
  public ByteString behind(ByteString key, ByteString value) {
    final int begin = field.begin(0, key.size(), value.size());
    if (begin == EntryField.ABSENT) {
      return ByteString.EMPTY;
    }
    final int end = field.end(begin, 0, key.size(), value.size());
    final ByteString next = key.concat(value).substring(begin, end);
    return next.size() > BlockDescriptor.MAX_KEY_LENGTH ? ByteString.EMPTY : next;
  }
}
