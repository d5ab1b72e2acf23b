package dev.ringfetch.index.journal;

import com.google.protobuf.ByteString;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A sequence of records on its way into the journal, which keeps their order. One thread at a time
 * appends; the journal's thread takes.
 */
final class JournalSource {
  private final Journal journal;
  private final boolean urgent;
  private final Runnable listener;
  private final PendingRecords pending = new PendingRecords();
  private final JournalRecord record = new JournalRecord();
  private long client;
  private long request;

  /** Whether records are identified by their number instead of their LSNs. */
  private boolean counts;

  /** Whether this source is in the journal's list of sources with records. */
  private final AtomicBoolean listed = new AtomicBoolean();

  /** The next source of that list. */
  JournalSource following;

  /** The last LSN in a batch, used by the journal's thread; and the last synced LSN. */
  private long written;

  private volatile long durable;

  private volatile boolean awaitsRoom;

  /** Whether a record waits that is synced as soon as possible, unlike others of this source. */
  private volatile boolean urged;

  /**
   * Creates a source.
   *
   * @param urgent whether its records are synced as soon as possible, not after an interval.
   * @param last LSN before the first record.
   * @param listener runs on the journal's thread when records have become durable, when the journal
   *     has failed, and when there may be {@linkplain #awaitRoom awaited} room.
   */
  JournalSource(Journal journal, boolean urgent, long last, Runnable listener) {
    this.journal = journal;
    this.urgent = urgent;
    this.listener = listener;
    written = last;
    durable = last;
  }

  /** Identifies records by their number, from 1 on, instead of their LSNs. Returns this. */
  JournalSource counting() {
    counts = true;
    return this;
  }

  /** The last durable LSN, or the LSN after which the source began. */
  long durable() {
    return durable;
  }

  boolean isUrgent() {
    return urgent || urged;
  }

  /** Same, for a record without a deadline. */
  int append(
      int type, int flags, long index, int partition, long lsn, ByteString key, ByteString value) {
    return append(type, flags, index, partition, lsn, key, value, 0);
  }

  /**
   * Sets the client and request of the next record; default none.
   *
   * @return this
   */
  JournalSource from(long ofClient, long ofRequest) {
    client = ofClient;
    request = ofRequest;
    return this;
  }

  /**
   * Appends a record.
   *
   * @param deadline of the entry; 0 if it has none.
   * @return 0; {@link Journal#FULL}, {@link Journal#LATER} or {@link Journal#FAILED}, if nothing
   *     was appended.
   */
  int append(
      int type,
      int flags,
      long index,
      int partition,
      long lsn,
      ByteString key,
      ByteString value,
      long deadline) {
    final int length = JournalRecord.aligned(key, value, deadline);
    final int refused = journal.reserve(length, type);
    if (refused != 0) {
      return refused;
    }
    final byte[] array = pending.claim(length);
    record
        .begin(array, pending.offset(), type, key, value)
        .flags(flags)
        .deadline(deadline)
        .partition(index, partition)
        .request(client, request)
        .place(journal.epoch(), lsn)
        .end();
    append(urgent);
    return 0;
  }

  /**
   * Appends a copy of an aligned record; otherwise like the method that encodes one.
   *
   * @param isUrgent whether it is synced as soon as possible, with all records before it
   */
  int append(byte[] bytes, int offset, int length, boolean isUrgent) {
    final int type = bytes[offset + RecordDescriptor.TYPE_OFFSET] & 0xFF;
    final int refused = journal.reserve(length, type);
    if (refused != 0) {
      return refused;
    }
    System.arraycopy(bytes, offset, pending.claim(length), pending.offset(), length);
    append(isUrgent);
    return 0;
  }

  /**
   * Requests a call of the listener once there may be more room than at the last refusal of {@link
   * #append}.
   */
  void awaitRoom() {
    awaitsRoom = true; // first: the journal checks all sources after it has cleared its flag
    journal.awaitRoom();
  }

  private void append(boolean isUrgent) {
    pending.append();
    final boolean isFirst = isUrgent && !isUrgent();
    if (isFirst) {
      urged = true; // after the record: the journal clears this before it takes records
    }
    // The record before the check of the list: the journal removes this from the list before it
    // checks for records.
    VarHandle.fullFence();
    if (!listed.get() && listed.compareAndSet(false, true)) {
      journal.list(this);
    } else if (isFirst) {
      journal.alarm.run();
    }
  }

  // Methods for the journal's thread.

  /** Leaves the journal's list, before the records are taken. */
  void leaveList() {
    urged = false;
    listed.set(false);
  }

  /** Whether there are records, so that the journal keeps this in its list. */
  boolean staysListed() {
    return !pending.isEmpty() && listed.compareAndSet(false, true);
  }

  /** Moves records to a batch as long as it has room; returns whether all were moved. */
  boolean take(Batch batch) {
    final int before = batch.records();
    final long last = pending.take(batch);
    if (counts) {
      written += batch.records() - before;
    } else if (last != 0) {
      written = last;
    }
    return pending.isEmpty();
  }

  /** Whether there are written records that are not known to be durable. */
  boolean isWritten() {
    return written != durable;
  }

  /** Notes that all written records are durable. */
  void synced() {
    durable = written;
    listener.run();
  }

  void failed() {
    listener.run();
  }

  void roomChanged() {
    if (awaitsRoom) {
      awaitsRoom = false;
      listener.run();
    }
  }
}
