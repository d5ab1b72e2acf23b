package dev.ringfetch.index.layout;

import com.google.protobuf.ByteString;

/**
 * The result of a read: a private copy of the value, its version and its deadline. Reusable: the
 * next read into it replaces everything. Used by one thread at a time.
 */
public final class Found {
  private byte[] array = new byte[256];
  private int offset;
  private int length;
  private long version;
  private long deadline;

  /** Bytes that contain the value. They change with the next read into this object. */
  public byte[] array() {
    return array;
  }

  /** Where in {@link #array()} the value begins. */
  public int offset() {
    return offset;
  }

  /** Length of the value in bytes. */
  public int length() {
    return length;
  }

  /** Version of the value, at least 1. */
  public long version() {
    return version;
  }

  /**
   * Deadline of the entry in milliseconds since 1970, by the clock of its partition; 0 if it has
   * none.
   */
  public long deadline() {
    return deadline;
  }

  /** A copy of the value. */
  public ByteString value() {
    return ByteString.copyFrom(array, offset, length);
  }

  /** Sets the result of a call: copies its value. */
  public void set(ByteString value, long newVersion, long newDeadline) {
    value.copyTo(ensure(value.size()), 0);
    found(0, value.size(), newVersion, newDeadline);
  }

  /** Makes room for a block; discards the former result. */
  byte[] ensure(int capacity) {
    if (array.length < capacity) {
      array = new byte[Math.max(capacity, array.length * 2)];
    }
    return array;
  }

  void found(int offset, int length, long version, long deadline) {
    this.offset = offset;
    this.length = length;
    this.version = version;
    this.deadline = deadline;
  }
}
