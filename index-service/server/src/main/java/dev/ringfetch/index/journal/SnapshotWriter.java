package dev.ringfetch.index.journal;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.disk.Disk;
import dev.ringfetch.index.disk.DiskFile;
import dev.ringfetch.index.outcome.KeptOutcome;
import dev.ringfetch.index.v1.Entry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * The file of a snapshot as it is written, in batches of about 1 MiB, each synced before the next:
 * so a sync of the journal never waits for more. Used by one thread at a time.
 */
final class SnapshotWriter implements SnapshotSink {
  private final Disk disk;
  private final long origin;
  private final long number;
  private final long epoch;
  private final Batch batch;
  private final DiskFile file;
  private final CRC32C crc = new CRC32C();
  private final JournalRecord record = new JournalRecord();

  /** Of the record that was begun. */
  private int aligned;

  private byte[] bytes = new byte[4096];
  private long length;
  private long previous;
  private long records;
  private boolean full;
  private boolean closed;

  private SnapshotWriter(Disk disk, Batch batch, DiskFile file, Journal journal, long number) {
    this.disk = disk;
    this.batch = batch;
    this.file = file;
    this.origin = journal.origin();
    this.epoch = journal.epoch();
    this.number = number;
  }

  /**
   * Creates the file of a snapshot, unfinished.
   *
   * @param batch is put together here, until the snapshot is finished or discarded
   * @param begin position in the journal
   */
  static SnapshotWriter create(Disk disk, Batch batch, Journal journal, long number, long begin)
      throws IOException {
    final String name = SnapshotDescriptor.unfinishedName(number);
    disk.delete(name); // of a try that failed
    final SnapshotWriter writer =
        new SnapshotWriter(disk, batch, disk.create(name), journal, number);
    boolean created = false;
    try {
      writer.write(SnapshotDescriptor.header(writer.origin, number, begin));
      batch.begin(BatchDescriptor.LENGTH_LIMIT);
      created = true;
      return writer;
    } finally {
      if (!created) {
        writer.discard();
      }
    }
  }

  long number() {
    return number;
  }

  /** Length in bytes so far. */
  long length() {
    return length;
  }

  /** Number of records so far, without the last one. */
  long records() {
    return records;
  }

  @Override
  public void add(
      int type,
      long index,
      int partition,
      long lsn,
      long client,
      long request,
      ByteString key,
      ByteString value)
      throws IOException {
    begin(type, key, value, 0)
        .partition(index, partition)
        .request(client, request)
        .place(epoch, lsn);
    end();
    records++;
  }

  @Override
  public void put(long index, int partition, Entry entry) throws IOException {
    begin(RecordDescriptor.PUT, entry.getKey(), entry.getValue(), entry.getDeadlineMs())
        .partition(index, partition)
        .place(epoch, entry.getVersion());
    end();
    records++;
  }

  @Override
  public void outcome(long index, int partition, KeptOutcome outcome) throws IOException {
    final ByteString value = OutcomeDescriptor.encode(outcome.kind(), outcome.detail());
    begin(RecordDescriptor.OUTCOME, ByteString.EMPTY, value, 0)
        .flags(outcome.isPositive() ? RecordDescriptor.POSITIVE : 0)
        .partition(index, partition)
        .request(outcome.client().id(), outcome.client().packed(outcome.number()))
        .place(epoch, outcome.lsn());
    end();
    records++;
  }

  private JournalRecord begin(int type, ByteString key, ByteString value, long deadline) {
    aligned = JournalRecord.aligned(key, value, deadline);
    if (bytes.length < aligned) {
      bytes = new byte[Math.max(aligned, 2 * bytes.length)];
    }
    return record.begin(bytes, 0, type, key, value).deadline(deadline);
  }

  /** Adds the record that was begun to the batch. */
  private void end() throws IOException {
    record.end();
    if (!batch.hasRoom(aligned)) {
      flush();
      full = true;
    }
    batch.add(bytes, 0, aligned);
  }

  @Override
  public boolean isFull() {
    return full;
  }

  /** Syncs what a step has written, and begins the next step. */
  void endStep() throws IOException {
    if (full) {
      full = false;
      file.sync();
    }
  }

  /**
   * Ends the snapshot: writes what is left and the last record, and syncs; then gives the file its
   * name, and syncs the directory. The journal is durable up to {@code end} before.
   */
  void finish(SnapshotSource source, long end) throws IOException {
    if (!batch.isEmpty()) {
      flush();
    }
    final ByteBuffer value =
        ByteBuffer.allocate(SnapshotDescriptor.END_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
    value
        .putLong(SnapshotDescriptor.END_OFFSET, end)
        .putLong(SnapshotDescriptor.RECORDS_OFFSET, records)
        .putLong(SnapshotDescriptor.NEWEST_OFFSET, source.newestIndex())
        .putInt(SnapshotDescriptor.FILE_CRC_OFFSET, (int) crc.getValue());
    begin(RecordDescriptor.SNAPSHOT_END, ByteString.EMPTY, ByteString.copyFrom(value), 0)
        .place(epoch, source.catalogLsn());
    end();
    flush();
    file.sync();
    close();
    disk.rename(SnapshotDescriptor.unfinishedName(number), SnapshotDescriptor.name(number));
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

  /** Gives the room of the file back; it is not finished, or does not count. */
  void discard() throws IOException {
    close();
    disk.delete(SnapshotDescriptor.unfinishedName(number));
  }

  private void close() throws IOException {
    if (!closed) {
      closed = true;
      file.close();
    }
  }
}
