package dev.ringfetch.index.layout;

import com.google.protobuf.ByteString;

/**
 * The value that a read found, as a private copy, and its version. Reusable: the next read into it
 * replaces both. Used by one thread at a time.
 */
public final class Found {
  private byte[] array = new byte[256];
  private int offset;
  private int length;
  private long version;

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

  /** A copy of the value. */
  public ByteString value() {
    return ByteString.copyFrom(array, offset, length);
  }

  /** Makes this what a call found: copies its value. */
  public void set(ByteString value, long newVersion) {
    value.copyTo(ensure(value.size()), 0);
    found(0, value.size(), newVersion);
  }

  /** Makes room for a block; what was found before is lost. */
  byte[] ensure(int capacity) {
    if (array.length < capacity) {
      array = new byte[Math.max(capacity, array.length * 2)];
    }
    return array;
  }

  void found(int offset, int length, long version) {
    this.offset = offset;
    this.length = length;
    this.version = version;
  }
}
