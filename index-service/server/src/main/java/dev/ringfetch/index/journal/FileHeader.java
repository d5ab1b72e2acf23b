package dev.ringfetch.index.journal;

import dev.ringfetch.index.disk.Disk;
import dev.ringfetch.index.disk.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * A reader of the headers of segments and snapshots, whose first fields are the same, as {@link
 * SegmentDescriptor} and {@link SnapshotDescriptor} lay them out.
 */
final class FileHeader {
  private FileHeader() {}

  /**
   * Reads the header of a file.
   *
   * @param magic of the kind of file
   * @throws JournalDamagedException if it is whole, but belongs to another version or directory
   * @return null if it is not whole, or belongs to another kind of file
   */
  static @Nullable ByteBuffer read(Disk disk, String name, DiskFile file, long magic, long origin)
      throws IOException {
    final ByteBuffer header = whole(file, magic);
    if (header == null) {
      return null;
    }
    final int format = header.getInt(SegmentDescriptor.FORMAT_OFFSET);
    if (format != SegmentDescriptor.FORMAT) {
      throw ofAnotherVersion(disk, name, format);
    }
    if (header.getLong(SegmentDescriptor.ORIGIN_OFFSET) != origin) {
      throw new JournalDamagedException("of another directory: file=" + disk.describe(name));
    }
    return header;
  }

  /** Reads a header of any version and directory; returns null if it is not whole. */
  private static @Nullable ByteBuffer whole(DiskFile file, long magic) throws IOException {
    final ByteBuffer header =
        ByteBuffer.allocate(SegmentDescriptor.BATCH_OFFSET).order(ByteOrder.LITTLE_ENDIAN);
    final boolean isWhole =
        file.read(0, header) == SegmentDescriptor.BATCH_OFFSET
            && header.getInt(SegmentDescriptor.CRC_OFFSET) == SegmentDescriptor.crc(header)
            && header.getLong(SegmentDescriptor.MAGIC_OFFSET) == magic;
    return isWhole ? header : null;
  }

  /** The origin in the header of a file; 0 if the header is not whole, or cannot be read. */
  static long origin(Disk disk, String name, long magic) {
    try (DiskFile file = disk.open(name)) {
      final ByteBuffer header = whole(file, magic);
      return header == null ? 0 : header.getLong(SegmentDescriptor.ORIGIN_OFFSET);
    } catch (IOException e) { // a later read of the file reports it
      return 0;
    }
  }

  static JournalDamagedException ofAnotherVersion(Disk disk, String name, int format) {
    return new JournalDamagedException(
        "of another version: file="
            + disk.describe(name)
            + " format="
            + format
            + ", this version reads format="
            + SegmentDescriptor.FORMAT);
  }
}
