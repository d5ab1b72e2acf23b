package dev.ringfetch.index.journal;

import com.google.protobuf.ByteString;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * One sequence of records on its way into the journal, which keeps their order. One thread at a
 * time appends; the journal's thread takes.
 */
final class JournalSource {
  private final Journal journal;
  private final boolean urgent;
  private final Runnable listener;
  private final PendingRecords pending = new PendingRecords();
  private final JournalRecord record = new JournalRecord();
  private long client;
  private long request;

  /** Whether records are known by their number, not by their LSNs. */
  private boolean counts;

  /** Whether the journal has this in its list of those that may have records. */
  private final AtomicBoolean listed = new AtomicBoolean();

  /** The next one of that list. */
  JournalSource following;

  /** The last LSN that is in a batch, of the journal's thread; and of one that is synced. */
  private long written;

  private volatile long durable;

  private volatile boolean awaitsRoom;

  /**
   * Creates a source.
   *
   * @param urgent whether its records are to be synced as soon as can be, not in an interval.
   * @param last LSN before the first record.
   * @param listener is run when records became durable, when the journal has failed, and when there
   *     may be room that was {@linkplain #awaitRoom awaited}; on the journal's thread.
   */
  JournalSource(Journal journal, boolean urgent, long last, Runnable listener) {
    this.journal = journal;
    this.urgent = urgent;
    this.listener = listener;
    written = last;
    durable = last;
  }

  /** Counts records in place of their LSNs, from 1 on. Returns this. */
  JournalSource counting() {
    counts = true;
    return this;
  }

  /** The last LSN that is durable, or that the source began after. */
  long durable() {
    return durable;
  }

  boolean isUrgent() {
    return urgent;
  }

  /** As the method with a deadline, of a record without one. */
  int append(
      int type, int flags, long index, int partition, long lsn, ByteString key, ByteString value) {
    return append(type, flags, index, partition, lsn, key, value, 0);
  }

  /**
   * Sets where the next record comes from, which else comes from no client.
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
    append();
    return 0;
  }

  /** Appends a copy of an aligned record; else as the method that makes one. */
  int append(byte[] bytes, int offset, int length) {
    final int type = bytes[offset + RecordDescriptor.TYPE_OFFSET] & 0xFF;
    final int refused = journal.reserve(length, type);
    if (refused != 0) {
      return refused;
    }
    System.arraycopy(bytes, offset, pending.claim(length), pending.offset(), length);
    append();
    return 0;
  }

  /**
   * Has the listener run once there may be more room than when {@link #append} refused a record.
   */
  void awaitRoom() {
    awaitsRoom = true; // first: the journal asks all sources after it has noted that none waits
    journal.awaitRoom();
  }

  private void append() {
    pending.append();
    // The record before the look at the list: the journal leaves that before it looks for records.
    VarHandle.fullFence();
    if (!listed.get() && listed.compareAndSet(false, true)) {
      journal.list(this);
    }
  }

  // What follows is the journal's thread's.

  /** Leaves the journal's list, before the records are taken. */
  void leaveList() {
    listed.set(false);
  }

  /** Whether there are records, and the journal is to keep this in its list. */
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

  /** Whether records were written that are not known to be durable. */
  boolean isWritten() {
    return written != durable;
  }

  /** All that was written is durable. */
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
