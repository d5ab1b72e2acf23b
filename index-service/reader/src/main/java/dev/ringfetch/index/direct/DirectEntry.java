package dev.ringfetch.index.direct;

import com.google.protobuf.ByteString;

/**
 * An entry of a scan, as a private copy. Reused for the next entry: valid until {@link
 * DirectSink#take} returns. Used by one thread.
 */
public final class DirectEntry {
  private byte[] array = {};
  private int keyOffset;
  private int keyLength;
  private int valueLength;
  private long version;
  private long deadline;

  DirectEntry() {}

  void set(byte[] bytes, int offset, int lengthOfKey, int lengthOfValue) {
    array = bytes;
    keyOffset = offset;
    keyLength = lengthOfKey;
    valueLength = lengthOfValue;
  }

  void stamp(long newVersion, long newDeadline) {
    version = newVersion;
    deadline = newDeadline;
  }

  /** Bytes that contain key and value. */
  public byte[] array() {
    return array;
  }

  /** Where in {@link #array()} the key begins. */
  public int keyOffset() {
    return keyOffset;
  }

  /** Length of the key in bytes. */
  public int keyLength() {
    return keyLength;
  }

  /** Where in {@link #array()} the value begins. */
  public int valueOffset() {
    return keyOffset + keyLength;
  }

  /** Length of the value in bytes; 0 in a scan of keys only. */
  public int valueLength() {
    return valueLength;
  }

  /** Version of the entry, at least 1. */
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

  /** A copy of the key. */
  public ByteString key() {
    return ByteString.copyFrom(array, keyOffset, keyLength);
  }

  /** A copy of the value; empty in a scan of keys only. */
  public ByteString value() {
    return ByteString.copyFrom(array, keyOffset + keyLength, valueLength);
  }
}
