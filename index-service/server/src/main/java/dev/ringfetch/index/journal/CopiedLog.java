package dev.ringfetch.index.journal;

import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A sequence of encoded records on its way into the journal, which keeps their order: those of a
 * replicated group. Records are counted, as their LSNs belong to several partitions.
 *
 * <p>One thread at a time appends; the journal's thread takes. Any thread may call the other public
 * methods.
 */
public final class CopiedLog {
  private final Journal journal;
  private final Runnable listener;
  private final PendingRecords pending = new PendingRecords();
  private long appended;

  /** Whether this is in the journal's list of sequences with records. */
  private final AtomicBoolean listed = new AtomicBoolean();

  /** The next sequence of that list. */
  CopiedLog following;

  /** Number of the records in batches, used by the journal's thread; and of the synced ones. */
  private long written;

  private volatile long durable;

  private volatile boolean awaitsRoom;

  /** Whether a record waits that is synced as soon as possible. */
  private volatile boolean urged;

  /**
   * Creates a sequence.
   *
   * @param listener runs on the journal's thread when records have become durable, when the journal
   *     has failed, and when there may be room for a record that was refused
   */
  CopiedLog(Journal journal, Runnable listener) {
    this.journal = journal;
    this.listener = listener;
    journal.add(this);
  }

  /**
   * Appends a copy of a record. If there is no room, the listener runs once there may be some.
   *
   * @param length aligned
   * @param isUrgent whether it is synced as soon as possible, with all records before it; else
   *     after the journal's interval
   * @return false if there is no room now, or the journal has failed
   */
  public boolean append(byte[] bytes, int offset, int length, boolean isUrgent) {
    if (!journal.reserve(length, bytes[offset + RecordDescriptor.TYPE_OFFSET] & 0xFF)) {
      awaitRoom();
      return false;
    }
    System.arraycopy(bytes, offset, pending.claim(length), pending.offset(), length);
    pending.append();
    appended++;
    final boolean isFirst = isUrgent && !urged;
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
    return true;
  }

  /** Has the listener called once there may be more room. */
  void awaitRoom() {
    awaitsRoom = true; // first: the journal checks all sequences after it has cleared its flag
    journal.awaitRoom();
  }

  /** Number of records that were appended. */
  public long appended() {
    return appended;
  }

  /** Number of the durable records, which are the first ones. */
  public long durable() {
    return durable;
  }

  /** Whether the journal has failed: nothing becomes durable any more. */
  public boolean isFailed() {
    return journal.isFailed();
  }

  /** Whether the journal cannot get more room because the disk is full. */
  public boolean isShort() {
    return journal.shortage() != null;
  }

  /** Whether a record of this length and type has no room because the disk is full. */
  public boolean isFull(int length, int type) {
    return isShort() && journal.isShortOf(length, type);
  }

  /** Whether the journal's directory exceeds its quota. */
  public boolean isOverQuota() {
    return journal.quota().isExceeded();
  }

  /** Ends the sequence: the listener is not called any more. */
  public void close() {
    journal.remove(this);
  }

  // Methods for the journal's thread.

  /** Whether a record is to be synced as soon as possible. */
  boolean isUrgent() {
    return urged;
  }

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
    pending.take(batch);
    written += batch.records() - before;
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
