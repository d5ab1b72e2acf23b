package dev.ringfetch.index.journal;

import dev.ringfetch.index.disk.Disk;
import dev.ringfetch.index.disk.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The header of a segment or a snapshot as it is read: its first fields are the same in both, as
 * {@link SegmentDescriptor} and {@link SnapshotDescriptor} lay them out.
 */
final class FileHeader {
  private FileHeader() {}

  /**
   * Reads the header of a file.
   *
   * @param magic of the kind of file
   * @throws JournalDamagedException if it is whole, and of another version or directory
   * @return null if it is not whole, or of another kind of file
   */
  static ByteBuffer read(Disk disk, String name, DiskFile file, long magic, long origin)
      throws IOException {
    final ByteBuffer header =
        ByteBuffer.allocate(SegmentDescriptor.BATCH_OFFSET).order(ByteOrder.LITTLE_ENDIAN);
    if (file.read(0, header) < SegmentDescriptor.BATCH_OFFSET
        || header.getInt(SegmentDescriptor.CRC_OFFSET) != SegmentDescriptor.crc(header)
        || header.getLong(SegmentDescriptor.MAGIC_OFFSET) != magic) {
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
    return header;
  }
}
