package dev.ringfetch.index.direct;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.Found;

/**
 * The result of a read of a {@link DirectReader}: a private copy of the value, its version and
 * deadline, and the incarnation of the index. Reusable: the next read into it replaces everything.
 * Used by one thread at a time.
 */
public final class DirectValue {
  /** Filled by the layout's reader; not public, as clients do not depend on layouts. */
  private final Found found = new Found();

  private long incarnation;

  /** Creates it; a read fills it. */
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

  /**
   * Deadline of the entry in milliseconds since 1970, by the clock of its partition; 0 if it has
   * none.
   */
  public long deadline() {
    return found.deadline();
  }

  /** A copy of the value. */
  public ByteString value() {
    return found.value();
  }

  /**
   * The incarnation of the index that the read used, even if it found no entry; 0 if there was no
   * index. Versions of two incarnations cannot be compared.
   */
  public long incarnation() {
    return incarnation;
  }

  void incarnation(long incarnation) {
    this.incarnation = incarnation;
  }

  Found found() {
    return found;
  }
}
