package dev.ringfetch.index.journal;

import dev.ringfetch.index.disk.Disk;
import dev.ringfetch.index.disk.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** A segment that has a valid header. */
record SegmentFile(String name, long number, long base, long length) {
  long end() {
    return base + length;
  }

  /**
   * Reads the header of a segment; returns null if it is not a whole one.
   *
   * @throws JournalDamagedException if it is whole, and not that of this segment of this journal
   */
  static SegmentFile read(Disk disk, String name, long number, long origin) throws IOException {
    final ByteBuffer header =
        ByteBuffer.allocate(SegmentDescriptor.BATCH_OFFSET).order(ByteOrder.LITTLE_ENDIAN);
    final long fileLength;
    try (DiskFile file = disk.open(name)) {
      fileLength = file.length();
      if (file.read(0, header) < SegmentDescriptor.BATCH_OFFSET) {
        return null;
      }
    }
    if (header.getInt(SegmentDescriptor.CRC_OFFSET) != SegmentDescriptor.crc(header)
        || header.getLong(SegmentDescriptor.MAGIC_OFFSET) != SegmentDescriptor.MAGIC) {
      return null;
    }
    final int format = header.getInt(SegmentDescriptor.FORMAT_OFFSET);
    if (format != SegmentDescriptor.FORMAT) {
      throw new JournalDamagedException(
          "of another version: file=" + disk.describe(name) + " format=" + format);
    }
    if (header.getLong(SegmentDescriptor.ORIGIN_OFFSET) != origin) {
      throw new JournalDamagedException("of another directory: file=" + disk.describe(name));
    }
    final long length = header.getLong(SegmentDescriptor.LENGTH_OFFSET);
    if (header.getLong(SegmentDescriptor.NUMBER_OFFSET) != number || length != fileLength) {
      throw new JournalDamagedException(
          "renamed, or cut: file="
              + disk.describe(name)
              + " number="
              + header.getLong(SegmentDescriptor.NUMBER_OFFSET)
              + " length="
              + length
              + " found="
              + fileLength);
    }
    return new SegmentFile(name, number, header.getLong(SegmentDescriptor.BASE_OFFSET), length);
  }
}
