package dev.ringfetch.index.journal;

import dev.ringfetch.index.disk.Disk;
import dev.ringfetch.index.disk.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * A whole snapshot.
 *
 * @param name of its file
 * @param number of the snapshot
 * @param length of the file in bytes
 * @param begin position from which a start reads the journal after it
 * @param end position that the journal reaches at least
 * @param records number of records before the last one
 * @param entries number of entries of each index, by its number
 */
record SnapshotFile(
    String name,
    long number,
    long length,
    long begin,
    long end,
    long records,
    Map<Long, Long> entries) {

  /** A receiver of the records of a snapshot, the last one included. */
  @FunctionalInterface
  interface Visitor {
    /** Called with each record and its offset. */
    void onRecord(JournalRecord record, long offset) throws IOException;
  }

  /**
   * Reads and checks a whole file.
   *
   * @throws JournalDamagedException if it belongs to another directory or a newer version: its
   *     content is unknown, and must not be skipped
   * @return null if it is damaged
   */
  static @Nullable SnapshotFile read(Disk disk, String name, long number, long origin)
      throws IOException {
    try (DiskFile file = disk.open(name)) {
      final ByteBuffer header = FileHeader.read(disk, name, file, SnapshotDescriptor.MAGIC, origin);
      if (header == null) {
        return null;
      }
      if (header.getLong(SnapshotDescriptor.NUMBER_OFFSET) != number) {
        return null;
      }
      final Reader reader = new Reader(file, header, origin, number);
      final EntryCounts counts = new EntryCounts();
      return reader.readAll(counts)
          ? reader.snapshot(name, header.getLong(SnapshotDescriptor.BEGIN_OFFSET), counts.entries())
          : null;
    }
  }

  /** The position in the journal in the header of a file; 0 if the header is damaged. */
  static long begin(Disk disk, String name, long origin) throws IOException {
    try (DiskFile file = disk.open(name)) {
      final ByteBuffer header = FileHeader.read(disk, name, file, SnapshotDescriptor.MAGIC, origin);
      return header == null ? 0 : header.getLong(SnapshotDescriptor.BEGIN_OFFSET);
    }
  }

  /**
   * Passes all records to a visitor.
   *
   * @throws IOException if the disk or the visitor fails, or the file has changed since it was read
   */
  void replay(Disk disk, long origin, Visitor visitor) throws IOException {
    try (DiskFile file = disk.open(name)) {
      final ByteBuffer header =
          ByteBuffer.allocate(SnapshotDescriptor.BATCH_OFFSET).order(ByteOrder.LITTLE_ENDIAN);
      final int headerLength = file.read(0, header);
      if (headerLength < SnapshotDescriptor.BATCH_OFFSET
          || !new Reader(file, header, origin, number).readAll(visitor)) {
        throw new JournalDamagedException("changed while it was read: file=" + disk.describe(name));
      }
    }
  }

  /** The number of entries of each index, whose records come one after the other. */
  private static final class EntryCounts implements Visitor {
    private final Map<Long, Long> counts = new HashMap<>();
    private long index;
    private long count;

    @Override
    public void onRecord(JournalRecord record, long offset) {
      if (record.index() != index) {
        add();
        index = record.index();
      }
      count += record.type() == RecordDescriptor.PUT ? 1 : 0;
    }

    private void add() {
      if (count > 0) {
        counts.merge(index, count, Long::sum);
        count = 0;
      }
    }

    Map<Long, Long> entries() {
      add();
      return counts;
    }
  }

  /** Reads the batches of a file in turn. Used once. */
  private static final class Reader {
    private final DiskFile file;
    private final long batchOrigin;
    private final long number;
    private final CRC32C fileCrc = new CRC32C();
    private final CRC32C crc = new CRC32C();
    private final JournalRecord record = new JournalRecord();
    private byte[] bytes = new byte[BatchDescriptor.LENGTH_SOFT_LIMIT];
    private long offset = SnapshotDescriptor.BATCH_OFFSET;
    private long previous;
    private long records;
    private ByteBuffer endValue;

    Reader(DiskFile file, ByteBuffer header, long origin, long number) {
      this.file = file;
      this.number = number;
      batchOrigin = SnapshotDescriptor.batchOrigin(origin, number);
      fileCrc.update(header.duplicate().rewind());
    }

    SnapshotFile snapshot(String name, long begin, Map<Long, Long> entries) {
      return new SnapshotFile(
          name,
          number,
          offset,
          begin,
          endValue.getLong(SnapshotDescriptor.END_OFFSET),
          records,
          entries);
    }

    /** Whether the file is whole, and ends with its last record. */
    boolean readAll(Visitor visitor) throws IOException {
      final long fileLength = file.length();
      while (endValue == null) {
        final int length = batch();
        if (length == 0 || !take(length, visitor)) {
          return false;
        }
        fileCrc.update(bytes, 0, length);
        previous = offset + length;
        offset = previous;
      }
      return offset == fileLength;
    }

    /** Reads the next batch; returns its length, 0 if there is none. */
    private int batch() throws IOException {
      if (read(offset, 0, BatchDescriptor.RECORD_OFFSET) < BatchDescriptor.RECORD_OFFSET) {
        return 0;
      }
      final int length = RecordDescriptor.getInt(bytes, BatchDescriptor.LENGTH_OFFSET);
      if (length <= BatchDescriptor.RECORD_OFFSET
          || length > BatchDescriptor.LENGTH_LIMIT
          || length % RecordDescriptor.ALIGNMENT != 0
          || RecordDescriptor.getInt(bytes, BatchDescriptor.MAGIC_OFFSET) != BatchDescriptor.MAGIC
          || RecordDescriptor.getLong(bytes, BatchDescriptor.ORIGIN_OFFSET) != batchOrigin
          || RecordDescriptor.getLong(bytes, BatchDescriptor.POSITION_OFFSET) != offset
          || RecordDescriptor.getLong(bytes, BatchDescriptor.PREVIOUS_OFFSET) != previous) {
        return 0;
      }
      final int rest = length - BatchDescriptor.RECORD_OFFSET;
      if (bytes.length < length) {
        final byte[] longer = new byte[BatchDescriptor.LENGTH_LIMIT];
        System.arraycopy(bytes, 0, longer, 0, BatchDescriptor.RECORD_OFFSET);
        bytes = longer;
      }
      final boolean isWhole =
          read(offset + BatchDescriptor.RECORD_OFFSET, BatchDescriptor.RECORD_OFFSET, rest) == rest
              && RecordDescriptor.getInt(bytes, BatchDescriptor.CRC_OFFSET)
                  == RecordDescriptor.crc(crc, bytes, 0, length);
      return isWhole ? length : 0;
    }

    private int read(long position, int at, int length) throws IOException {
      return file.read(position, ByteBuffer.wrap(bytes, at, length));
    }

    private boolean take(int length, Visitor visitor) throws IOException {
      int position = BatchDescriptor.RECORD_OFFSET;
      int left = RecordDescriptor.getInt(bytes, BatchDescriptor.RECORDS_OFFSET);
      while (left > 0 && position < length) {
        final int salt = RecordDescriptor.salt(batchOrigin, offset + position);
        if (endValue != null || !record.wrap(bytes, position, length, salt)) {
          return false;
        }
        if (record.type() == RecordDescriptor.SNAPSHOT_END) {
          if (position != BatchDescriptor.RECORD_OFFSET || !takeEnd()) {
            return false;
          }
        } else {
          records++;
        }
        visitor.onRecord(record, offset + position);
        position += RecordDescriptor.aligned(record.length());
        left--;
      }
      return left == 0 && position == length;
    }

    private boolean takeEnd() {
      if (record.value().size() != SnapshotDescriptor.END_LENGTH) {
        return false;
      }
      endValue = record.value().asReadOnlyByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
      return endValue.getLong(SnapshotDescriptor.RECORDS_OFFSET) == records
          && endValue.getInt(SnapshotDescriptor.FILE_CRC_OFFSET) == (int) fileCrc.getValue();
    }
  }
}
