package dev.ringfetch.index.direct;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.Found;

/**
 * The value that a read of a {@link DirectReader} found, as a private copy, and its version.
 * Reusable: the next read into it replaces both. Used by one thread at a time.
 */
public final class DirectValue {
  /** What the reader below fills; layouts are not a client's business. */
  private final Found found = new Found();

  /** Creates it, for a read to fill. */
  public DirectValue() {}

  /** Bytes that contain the value. They change with the next read into this object. */
  public byte[] array() {
    return found.array();
  }

  /** Where in {@link #array()} the value begins. */
  public int offset() {
    return found.offset();
  }

  /** Length of the value in bytes. */
  public int length() {
    return found.length();
  }

  /** Version of the entry, at least 1. */
  public long version() {
    return found.version();
  }

  /** A copy of the value. */
  public ByteString value() {
    return found.value();
  }

  Found found() {
    return found;
  }
}
