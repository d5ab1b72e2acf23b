package dev.ringfetch.index.journal;

import static dev.ringfetch.index.journal.RecordDescriptor.getInt;
import static dev.ringfetch.index.journal.RecordDescriptor.getLong;

import dev.ringfetch.index.disk.Disk;
import dev.ringfetch.index.disk.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/** The content of a segment in memory, and the batches in it. Used by one thread at a time. */
final class SegmentContent {
  /** Zeros of the length of one comparison. */
  private static final ByteBuffer ZEROS = ByteBuffer.allocateDirect(1 << 20).asReadOnlyBuffer();

  private final long base;
  private final long origin;
  private final byte[] bytes;
  private final int limit;
  private final int zeros;
  private final CRC32C crc = new CRC32C();

  /**
   * Creates a content.
   *
   * @param limit length of the content
   * @param zeros begin of the zeros that fill the segment
   */
  private SegmentContent(long base, long origin, byte[] bytes, int limit, int zeros) {
    this.base = base;
    this.origin = origin;
    this.bytes = bytes;
    this.limit = limit;
    this.zeros = zeros;
  }

  /**
   * Reads a whole file. Keeps as many of the zeros at its end as a batch can end with.
   *
   * @param base position of its begin in the journal
   * @param origin of the directory
   */
  static SegmentContent read(Disk disk, String name, long base, long origin) throws IOException {
    return read(disk, name, base, origin, null);
  }

  /**
   * Same, in the memory of another segment if that is long enough.
   *
   * @param former content that is no longer used, or null
   */
  static SegmentContent read(
      Disk disk, String name, long base, long origin, @Nullable SegmentContent former)
      throws IOException {
    try (DiskFile file = disk.open(name)) {
      final int length = lengthWithoutZeros(disk, name, file);
      final int limit =
          length == 0 ? 0 : (int) Math.min(file.length(), length + BatchDescriptor.LENGTH_LIMIT);
      final byte[] bytes =
          former != null && former.bytes.length >= limit ? former.bytes : new byte[limit];
      readAll(disk, name, file, 0, ByteBuffer.wrap(bytes, 0, length));
      Arrays.fill(bytes, length, limit, (byte) 0);
      int zeros = length;
      while (zeros > 0 && bytes[zeros - 1] == 0) {
        zeros--;
      }
      return new SegmentContent(base, origin, bytes, limit, zeros);
    }
  }

  /** Length of a file without the parts at its end that contain only zeros. */
  private static int lengthWithoutZeros(Disk disk, String name, DiskFile file) throws IOException {
    final ByteBuffer part = ByteBuffer.allocateDirect(ZEROS.capacity());
    int length = Math.toIntExact(file.length());
    while (length > 0) {
      final int partLength = Math.min(length, part.capacity());
      part.clear().limit(partLength);
      readAll(disk, name, file, length - partLength, part);
      if (part.flip().mismatch(ZEROS.slice(0, partLength)) >= 0) {
        return length;
      }
      length -= partLength;
    }
    return length;
  }

  private static void readAll(Disk disk, String name, DiskFile file, long at, ByteBuffer into)
      throws IOException {
    final int length = into.remaining();
    if (file.read(at, into) != length) {
      throw new IOException("shorter than its length: file=" + disk.describe(name));
    }
  }

  /** The content, up to the last batch at least. */
  byte[] bytes() {
    return bytes;
  }

  /** Length of the valid batch at an offset, or 0. */
  int batchAt(int offset) {
    return BatchDescriptor.length(crc, bytes, offset, limit, origin, base + offset);
  }

  /** Length of the valid batch at an offset that follows a batch which ends there; or 0. */
  int batchAfter(long previous, int offset) {
    final int length = batchAt(offset);
    return length > 0 && getLong(bytes, offset + BatchDescriptor.PREVIOUS_OFFSET) == previous
        ? length
        : 0;
  }

  private boolean hasMagicAt(int offset) {
    return offset + BatchDescriptor.RECORD_OFFSET <= limit
        && getInt(bytes, offset + BatchDescriptor.MAGIC_OFFSET) == BatchDescriptor.MAGIC;
  }

  /** Whether any bytes look like the begin of a batch. */
  boolean hasMagic() {
    for (int i = 0; i < zerosFrom(0); i += RecordDescriptor.ALIGNMENT) {
      if (hasMagicAt(i)) {
        return true;
      }
    }
    return false;
  }

  /** The largest durable position in the valid batches from an offset on; 0 if there is none. */
  long durableFrom(int offset) {
    long durable = 0;
    for (int i = offset; i < zerosFrom(offset); i += RecordDescriptor.ALIGNMENT) {
      if (batchAt(i) > 0) {
        durable = Math.max(durable, getLong(bytes, i + BatchDescriptor.DURABLE_OFFSET));
      }
    }
    return durable;
  }

  /** Begin of the zeros that fill the segment, or the offset if that is larger. */
  int zerosFrom(int offset) {
    return Math.max(offset, zeros);
  }
}
