package dev.ringfetch.index.journal;

import dev.ringfetch.index.disk.Disk;
import dev.ringfetch.index.disk.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** A segment with a valid header. */
record SegmentFile(String name, long number, long base, long length) {
  long end() {
    return base + length;
  }

  /**
   * Reads the header of a segment; returns null if it is not whole.
   *
   * @throws JournalDamagedException if it is whole, but not that of this segment of this journal
   */
  static @Nullable SegmentFile read(Disk disk, String name, long number, long origin)
      throws IOException {
    final ByteBuffer header;
    final long fileLength;
    try (DiskFile file = disk.open(name)) {
      fileLength = file.length();
      header = FileHeader.read(disk, name, file, SegmentDescriptor.MAGIC, origin);
    }
    if (header == null) {
      return null;
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
