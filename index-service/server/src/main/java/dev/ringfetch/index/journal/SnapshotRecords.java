package dev.ringfetch.index.journal;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.outcome.KeptOutcome;
import dev.ringfetch.index.v1.Entry;
import java.io.IOException;

/**
 * The encoder of a snapshot's records for any target, one after the other. Used by one thread at a
 * time.
 */
public abstract class SnapshotRecords implements SnapshotSink {
  private final long epoch;
  private final JournalRecord record = new JournalRecord();

  /** Aligned length of the record that was begun. */
  private int aligned;

  private byte[] bytes = new byte[4096];
  private long records;

  /**
   * Creates it.
   *
   * @param epoch of the records
   */
  protected SnapshotRecords(long epoch) {
    this.epoch = epoch;
  }

  /**
   * Adds an encoded record.
   *
   * @param array begins with the record, and belongs to this object
   * @param recordLength aligned
   */
  protected abstract void add(byte[] array, int recordLength) throws IOException;

  /** Number of records so far, without the last one. */
  public final long records() {
    return records;
  }

  @Override
  public final void add(
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
  public final void put(long index, int partition, Entry entry) throws IOException {
    begin(RecordDescriptor.PUT, entry.getKey(), entry.getValue(), entry.getDeadlineMs())
        .partition(index, partition)
        .place(epoch, entry.getVersion());
    end();
    records++;
  }

  @Override
  public final void outcome(long index, int partition, KeptOutcome outcome) throws IOException {
    final ByteString value =
        OutcomeDescriptor.encode(outcome.kind(), outcome.detail(), outcome.answer());
    begin(RecordDescriptor.OUTCOME, ByteString.EMPTY, value, 0)
        .flags(outcome.isPositive() ? RecordDescriptor.POSITIVE : 0)
        .partition(index, partition)
        .request(outcome.client().id(), outcome.client().packed(outcome.number()))
        .place(epoch, outcome.lsn());
    end();
    records++;
  }

  @Override
  public final void copy(byte[] array, int offset, int length) throws IOException {
    if (bytes.length < length) {
      bytes = new byte[length];
    }
    System.arraycopy(array, offset, bytes, 0, length);
    add(bytes, length);
    records++;
  }

  /** Adds the record that ends a snapshot. */
  final void addLast(ByteString value) throws IOException {
    begin(RecordDescriptor.SNAPSHOT_END, ByteString.EMPTY, value, 0).place(epoch, 0);
    end();
  }

  private JournalRecord begin(int type, ByteString key, ByteString value, long deadline) {
    aligned = JournalRecord.aligned(key, value, deadline);
    if (bytes.length < aligned) {
      bytes = new byte[Math.max(aligned, 2 * bytes.length)];
    }
    return record.begin(bytes, 0, type, key, value).deadline(deadline);
  }

  /** Ends the record that was begun, and adds it. */
  private void end() throws IOException {
    record.end();
    add(bytes, aligned);
  }
}
