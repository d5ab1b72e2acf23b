package dev.ringfetch.index.journal;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.disk.Disk;
import dev.ringfetch.index.disk.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * The writer of a snapshot's file, in batches of about 1 MiB. Each is synced before the next, so
 * that a sync of the journal never waits for more. Used by one thread at a time.
 */
final class SnapshotWriter extends SnapshotRecords {
  private final Disk disk;
  private final String name;
  private final long origin;
  private final long number;
  private final Batch batch;
  private final DiskFile file;
  private final CRC32C crc = new CRC32C();
  private long length;
  private long previous;
  private boolean full;
  private boolean closed;

  private SnapshotWriter(Disk disk, Batch batch, String name, long origin, long number, long epoch)
      throws IOException {
    super(epoch);
    this.disk = disk;
    this.batch = batch;
    this.name = name;
    this.origin = origin;
    this.number = number;
    disk.delete(unfinishedName()); // of a failed attempt
    file = disk.create(unfinishedName());
  }

  /**
   * Creates the file of a snapshot, unfinished.
   *
   * @param batch used by this writer until the snapshot is finished or discarded
   * @param begin position in the journal
   */
  static SnapshotWriter create(Disk disk, Batch batch, Journal journal, long number, long begin)
      throws IOException {
    return new SnapshotWriter(
            disk, batch, SnapshotDescriptor.name(number), journal.origin(), number, journal.epoch())
        .begun(begin);
  }

  /** Same, of a group that an orderly end leaves; none of its records is of the journal. */
  static SnapshotWriter ofStop(Disk disk, Batch batch, long origin, long group) throws IOException {
    return new SnapshotWriter(disk, batch, SnapshotDescriptor.stopName(group), origin, group, 0)
        .begun(0);
  }

  private SnapshotWriter begun(long begin) throws IOException {
    boolean created = false;
    try {
      write(SnapshotDescriptor.header(origin, number, begin));
      batch.begin(BatchDescriptor.LENGTH_LIMIT);
      created = true;
      return this;
    } finally {
      if (!created) {
        discard();
      }
    }
  }

  private String unfinishedName() {
    return name + SnapshotDescriptor.UNFINISHED_SUFFIX;
  }

  long number() {
    return number;
  }

  /** Length in bytes so far. */
  long length() {
    return length;
  }

  @Override
  protected void add(byte[] bytes, int recordLength) throws IOException {
    if (!batch.hasRoom(recordLength)) {
      flush();
      full = true;
    }
    batch.add(bytes, 0, recordLength);
  }

  @Override
  public boolean isFull() {
    return full;
  }

  /** Syncs the writes of a step, and begins the next step. */
  void endStep() throws IOException {
    if (full) {
      full = false;
      file.sync();
    }
  }

  /**
   * Ends the snapshot: writes the rest and the last record, and syncs; then renames the file, and
   * syncs the directory. The journal must be durable up to {@code end} before.
   */
  void finish(long end) throws IOException {
    if (!batch.isEmpty()) {
      flush();
    }
    final ByteBuffer value =
        ByteBuffer.allocate(SnapshotDescriptor.END_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
    value
        .putLong(SnapshotDescriptor.END_OFFSET, end)
        .putLong(SnapshotDescriptor.RECORDS_OFFSET, records())
        .putInt(SnapshotDescriptor.FILE_CRC_OFFSET, (int) crc.getValue());
    addLast(ByteString.copyFrom(value));
    flush();
    file.sync();
    close();
    disk.rename(unfinishedName(), name);
    disk.syncDirectory();
  }

  private void flush() throws IOException {
    final long end = length;
    write(batch.end(SnapshotDescriptor.batchOrigin(origin, number), end, previous, 0));
    previous = length;
    batch.begin(BatchDescriptor.LENGTH_LIMIT);
  }

  private void write(ByteBuffer part) throws IOException {
    crc.update(part.duplicate());
    final int partLength = part.remaining();
    file.write(length, part);
    length += partLength;
  }

  /** Frees the room of the file, which is not finished, or does not count. */
  void discard() throws IOException {
    close();
    disk.delete(unfinishedName());
  }

  private void close() throws IOException {
    if (!closed) {
      closed = true;
      file.close();
    }
  }
}
