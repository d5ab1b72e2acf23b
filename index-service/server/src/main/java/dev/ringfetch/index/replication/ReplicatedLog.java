package dev.ringfetch.index.replication;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.journal.Journal;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.PendingRecords;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.journal.WriteRecord;
import dev.ringfetch.index.log.RecordLog;
import dev.ringfetch.index.partition.CommitLog;
import dev.ringfetch.index.partition.Write;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The log of one partition of a group whose replica leads: a record is committed when all members
 * have it.
 */
final class ReplicatedLog implements CommitLog {
  private final LeaderLog owner;
  private final int partition;
  private final PendingRecords pending = new PendingRecords();
  private final WriteRecord record = new WriteRecord();
  private final JournalRecord view = new JournalRecord();
  private final AtomicBoolean toTell = new AtomicBoolean();
  private final PendingRecords.Taker taker;
  private RecordLog target;
  private long appended;
  private long noted; // the replica's owner's
  private volatile long committed; // as the replica's owner shows
  private volatile long immediate; // committed when it was appended; the partition's owner's
  private long marked; // the replica's owner's: durable once the disk has come so far
  private volatile long durable; // where commits do not wait for the disk
  private volatile boolean dirty;
  private volatile boolean urgent; // a write waits for the commit of what was appended
  private volatile boolean wantsRoom;
  private volatile Runnable listener = () -> {};

  ReplicatedLog(LeaderLog owner, int partition, long last) {
    this.owner = owner;
    this.partition = partition;
    appended = last;
    noted = last;
    committed = last;
    immediate = last;
    durable = last;
    taker =
        new PendingRecords.Taker() {
          @Override
          public boolean hasRoom(int length) {
            return true; // what waits is bounded
          }

          @Override
          public void add(byte[] bytes, int offset, int length) {
            target.add(bytes, offset, length);
          }
        };
  }

  @Override
  public long append(Write write) {
    final long lsn = appended + 1;
    if (owner.isFailed()) {
      return FAILED;
    }
    if (lsn > MAX_LSN) {
      return EXHAUSTED;
    }
    if (owner.isOverQuota() && addsEntry(write)) {
      return OVER_QUOTA;
    }
    record.of(write);
    final int length = record.aligned();
    if (owner.isFull(length, record.type()) || !owner.reserve(length)) {
      return FULL;
    }
    final byte[] array = pending.claim(length);
    record.encode(array, pending.offset(), owner.group(), partition, owner.epoch(), lsn);
    pending.append();
    appended = lsn;
    dirty = true;
    VarHandle.fullFence(); // the owner of the replica ends this and then takes what is there
    if (owner.isImmediate()) {
      immediate = lsn;
    } else {
      urgent = true;
    }
    return lsn;
  }

  @Override
  public boolean isImmediate() {
    return owner.isImmediate();
  }

  private static boolean addsEntry(Write write) {
    for (Write part = write.firstPart(); part != null; part = part.nextPart()) {
      if (part.writesEntry()) {
        return !write.isUnchanged();
      }
    }
    return false;
  }

  /** Appends a record of no partition; one thread at a time, which drives the replica then. */
  long append(int type, long client, long request) {
    return append(type, client, request, appended + 1);
  }

  /**
   * Goes on behind LSNs that may have been given to records that are lost. The first record. The
   * log begins behind it for its partition, whose snapshots have it then.
   */
  void appendGap() {
    append(RecordDescriptor.GAP, 0, 0, Math.min(appended + 1 + Journal.LOST_LIMIT, MAX_LSN));
    noted = appended;
    committed = appended;
    immediate = appended;
  }

  private long append(int type, long client, long request, long lsn) {
    final int length = RecordDescriptor.aligned(RecordDescriptor.KEY_OFFSET);
    owner.reserve(length);
    view.begin(pending.claim(length), pending.offset(), type, ByteString.EMPTY, ByteString.EMPTY)
        .partition(owner.group(), partition)
        .request(client, request)
        .place(owner.epoch(), lsn)
        .end();
    pending.append();
    appended = lsn;
    return lsn;
  }

  @Override
  public void onCycleEnd() {
    if (dirty && (urgent || !owner.mayBatch())) {
      urgent = false;
      dirty = false; // before the records are taken
      owner.appended();
    }
  }

  @Override
  public long committed() {
    final long seen = Math.max(committed, immediate);
    return owner.isFailed() ? FAILED : seen;
  }

  @Override
  public long durable() {
    return owner.isAwaited() ? committed() : durable;
  }

  @Override
  public boolean hasRoom() {
    if (owner.hasRoom()) {
      return true;
    }
    wantsRoom = true;
    VarHandle.fullFence(); // the owner of the replica gives room and then looks
    return owner.hasRoom();
  }

  @Override
  public void onCommit(Runnable commits) {
    listener = commits;
  }

  @Override
  public void close() {
    listener = () -> {};
  }

  /** Runs the listener if there is something that it was not told. */
  void tell() {
    if (toTell.get() && toTell.compareAndSet(true, false)) {
      listener.run();
    }
  }

  // Methods for the replica's owner.

  void drain(RecordLog log) {
    target = log;
    pending.take(taker);
  }

  void noteCommit(long lsn) {
    noted = lsn;
  }

  void showCommit(boolean hasRoom) {
    if (noted != committed) {
      committed = noted;
      if (noted > immediate) {
        toTell.set(true);
      }
    }
    if (hasRoom && wantsRoom) {
      wantsRoom = false;
      toTell.set(true);
    }
  }

  /** Shows what was marked, and marks what is committed now. */
  void showDurable() {
    durable = Math.max(durable, marked);
    marked = noted;
  }

  void failed() {
    toTell.set(true);
  }
}
