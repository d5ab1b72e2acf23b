package dev.ringfetch.index.layout;

import com.google.protobuf.ByteString;
import java.nio.ByteBuffer;

/**
 * Layout of the entries of an index for appends. The key is the offset, and so the version, in 8
 * bytes, big endian. The value is the time of the append in {@value #TIME_LENGTH} bytes, big
 * endian, in milliseconds since 1970, and the record.
 */
public final class AppendDescriptor {
  /** Length of the time in front of a record. */
  public static final int TIME_LENGTH = Long.BYTES;

  /** Length of the longest record. */
  public static final int MAX_RECORD_LENGTH = BlockDescriptor.MAX_VALUE_LENGTH - TIME_LENGTH;

  private AppendDescriptor() {}

  /** The key of an offset. */
  public static ByteString key(long offset) {
    return number(offset);
  }

  /** The offset of a key of 8 bytes. */
  public static long offset(ByteString key) {
    return key.asReadOnlyByteBuffer().getLong();
  }

  /** The value of a record. */
  public static ByteString value(long timeMs, ByteString record) {
    return number(timeMs).concat(record);
  }

  /** The time of a value. */
  public static long time(ByteString value) {
    return value.substring(0, TIME_LENGTH).asReadOnlyByteBuffer().getLong();
  }

  /** The record of a value. */
  public static ByteString record(ByteString value) {
    return value.substring(TIME_LENGTH);
  }

  private static ByteString number(long number) {
    return ByteString.copyFrom(ByteBuffer.allocate(Long.BYTES).putLong(number).flip());
  }
}
