package dev.ringfetch.index.journal;

import static dev.ringfetch.index.journal.RecordDescriptor.getInt;
import static dev.ringfetch.index.journal.RecordDescriptor.getLong;

import dev.ringfetch.index.disk.Disk;
import dev.ringfetch.index.disk.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** The content of a segment in memory, and the batches in it. Used by one thread at a time. */
final class SegmentContent {
  private final long base;
  private final long origin;
  private final byte[] bytes;
  private final CRC32C crc = new CRC32C();

  private SegmentContent(long base, long origin, byte[] bytes) {
    this.base = base;
    this.origin = origin;
    this.bytes = bytes;
  }

  /**
   * Reads a file as a whole.
   *
   * @param base position of its begin in the journal
   * @param origin of the directory
   */
  static SegmentContent read(Disk disk, String name, long base, long origin) throws IOException {
    try (DiskFile file = disk.open(name)) {
      final byte[] bytes = new byte[Math.toIntExact(file.length())];
      if (file.read(0, ByteBuffer.wrap(bytes)) != bytes.length) {
        throw new IOException("shorter than its length: file=" + disk.describe(name));
      }
      return new SegmentContent(base, origin, bytes);
    }
  }

  byte[] bytes() {
    return bytes;
  }

  /** Length of the valid batch at an offset, or 0. */
  int batchAt(int offset) {
    if (!hasMagicAt(offset)) {
      return 0;
    }
    final int length = getInt(bytes, offset + BatchDescriptor.LENGTH_OFFSET);
    if (length <= BatchDescriptor.RECORD_OFFSET
        || length > BatchDescriptor.LENGTH_LIMIT
        || length > bytes.length - offset
        || length % RecordDescriptor.ALIGNMENT != 0
        || getLong(bytes, offset + BatchDescriptor.ORIGIN_OFFSET) != origin
        || getLong(bytes, offset + BatchDescriptor.POSITION_OFFSET) != base + offset) {
      return 0;
    }
    return getInt(bytes, offset + BatchDescriptor.CRC_OFFSET)
            == RecordDescriptor.crc(crc, bytes, offset, length)
        ? length
        : 0;
  }

  /** Length of the valid batch at an offset that follows a batch which ends there; or 0. */
  int batchAfter(long previous, int offset) {
    final int length = batchAt(offset);
    return length > 0 && getLong(bytes, offset + BatchDescriptor.PREVIOUS_OFFSET) == previous
        ? length
        : 0;
  }

  private boolean hasMagicAt(int offset) {
    return offset + BatchDescriptor.RECORD_OFFSET <= bytes.length
        && getInt(bytes, offset + BatchDescriptor.MAGIC_OFFSET) == BatchDescriptor.MAGIC;
  }

  /** Whether anything looks like the begin of a batch. */
  boolean hasMagic() {
    for (int i = 0; i < bytes.length; i += RecordDescriptor.ALIGNMENT) {
      if (hasMagicAt(i)) {
        return true;
      }
    }
    return false;
  }

  /** The largest durable position that any valid batch from an offset on says; 0 if none does. */
  long durableFrom(int offset) {
    long durable = 0;
    for (int i = offset; i < bytes.length; i += RecordDescriptor.ALIGNMENT) {
      if (batchAt(i) > 0) {
        durable = Math.max(durable, getLong(bytes, i + BatchDescriptor.DURABLE_OFFSET));
      }
    }
    return durable;
  }

  /** Where the zeros begin that fill the segment, or the offset if that is behind. */
  int zerosFrom(int offset) {
    int end = bytes.length;
    while (end - Long.BYTES >= offset && getLong(bytes, end - Long.BYTES) == 0) {
      end -= Long.BYTES;
    }
    while (end > offset && bytes[end - 1] == 0) {
      end--;
    }
    return end;
  }
}
