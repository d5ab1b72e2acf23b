package dev.ringfetch.index.replication;

import dev.ringfetch.index.coordinator.Recoveries;
import dev.ringfetch.index.journal.Journal;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.log.GroupDisk;
import dev.ringfetch.index.log.GroupLog;
import dev.ringfetch.index.log.RecordLog;
import dev.ringfetch.index.partition.CommitLog;
import dev.ringfetch.index.v1.GroupState;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.agrona.ErrorHandler;
import org.jspecify.annotations.Nullable;

/**
 * The log of a group while its replica leads: the records of the partitions on their way into the
 * {@link RecordLog}, and the commits of each partition.
 *
 * <p>Writers append on any threads, and then drive the replica, whose owner takes the records. The
 * owner notes commits within a cycle; its thread notifies the partitions after the cycle.
 *
 * <p>Where the group has no other member and waits for no disk, a record is committed once it is
 * appended, and the owner takes the records in batches. A writer appends and then looks whether
 * that is so; the owner ends it and then takes what was appended. So each record that was committed
 * like that has its position before another node becomes a member.
 */
final class LeaderLog implements GroupLog {
  /** Bytes that wait for the owner while records are committed without it. */
  private static final int BATCH_BYTES = 64 << 10;

  /**
   * Limit of the bytes that wait where commits do not wait for the disk. So many records, and those
   * that wait in the journal for its sync, are fewer than {@link Journal#LOST_LIMIT}.
   */
  private static final int UNWRITTEN_BYTES = 2 << 20;

  /** The bytes of the records that a disk has taken, where that does not matter. */
  static final long UNLIMITED = Long.MAX_VALUE;

  private final long group;
  private final int partitions;
  private final long versionsBefore;
  private final int capacity;
  private final @Nullable GroupDisk disk; // null: the group is in memory alone
  private final boolean isAwaited;
  private final boolean mayLack;
  private final Runnable drive;
  private final AtomicReferenceArray<ReplicatedLog> logs;
  private final ReplicatedLog ofNoPartition;
  private final ArrayDeque<End> ends = new ArrayDeque<>(); // guarded by itself
  private final AtomicLong waiting = new AtomicLong();
  private volatile long epoch;
  private volatile boolean failed;
  private volatile boolean alone;
  private volatile boolean isMemberOverQuota;

  /** Whether the owner takes records soon, without being driven. */
  private volatile boolean isAttended;

  // Of the replica's owner: bytes of records since the log began.
  private long committedBytes;
  private long givenBytes; // room
  private long markedPosition; // of what the partitions have marked
  private boolean isShown; // all that is committed

  /** Whether records may have come since the owner looked. */
  private volatile boolean appended;

  /** Whether a partition may have to be told. */
  private volatile boolean changed;

  private record End(long lsn, Ended ended) {}

  /**
   * Creates the log.
   *
   * @param state of the group, which may have lost versions that were given
   * @param last position of the group, from which the LSNs of records of no partition go on: there
   *     were never more of them than records
   * @param mayLack whether records may be lost that were acknowledged: each partition goes on
   *     behind a gap
   * @param drive drives the replica
   */
  LeaderLog(
      ReplicaContext context,
      GroupState state,
      long epoch,
      long last,
      boolean mayLack,
      Runnable drive) {
    versionsBefore = Recoveries.versionsBefore(state);
    group = context.group();
    partitions = context.partitions();
    disk = context.disk();
    isAwaited = context.awaitedDisks() != AwaitedDisks.NONE;
    capacity =
        disk == null || isAwaited
            ? context.limits().waiting()
            : Math.min(context.limits().waiting(), UNWRITTEN_BYTES);
    this.mayLack = mayLack;
    this.epoch = epoch;
    this.drive = drive;
    logs = new AtomicReferenceArray<>(partitions + 1);
    ofNoPartition = new ReplicatedLog(this, partitions, last);
    ofNoPartition.onCommit(this::tellEnds);
    logs.set(partitions, ofNoPartition);
  }

  @Override
  public CommitLog partition(int partition, long last) {
    if (partition < 0 || partition >= partitions) {
      throw new IllegalArgumentException("partition=" + partition + " partitions=" + partitions);
    }
    final ReplicatedLog log = new ReplicatedLog(this, partition, Math.max(last, versionsBefore));
    if (!logs.compareAndSet(partition, null, log)) {
      throw new IllegalStateException("partition=" + partition + " has a log");
    }
    if (mayLack) {
      log.appendGap();
    }
    return log;
  }

  @Override
  public boolean append(int type, long client, long request, Ended ended) {
    synchronized (ends) {
      if (failed || !hasRoom()) {
        return false;
      }
      final long lsn = ofNoPartition.append(type, client, request);
      ends.add(new End(lsn, ended));
    }
    appended();
    return true;
  }

  private void tellEnds() {
    final List<End> told = new ArrayList<>();
    final long committed;
    synchronized (ends) {
      committed = ofNoPartition.committed();
      while (!ends.isEmpty() && (committed == CommitLog.FAILED || ends.peek().lsn() <= committed)) {
        told.add(ends.poll());
      }
    }
    told.forEach(end -> end.ended().onEnded(committed != CommitLog.FAILED));
  }

  long group() {
    return group;
  }

  long epoch() {
    return epoch;
  }

  boolean isFailed() {
    return failed;
  }

  @Override
  public boolean isAlone() {
    return alone && !failed;
  }

  /** Whether a record has no room, as the only disk is full. */
  boolean isFull(int length, int type) {
    return alone
        && disk != null
        && disk.isShort()
        && disk.isFull((int) waiting.get() + length, type);
  }

  /** Whether writes that add an entry are refused, as a directory exceeds its quota. */
  boolean isOverQuota() {
    return isMemberOverQuota || (disk != null && disk.isOverQuota());
  }

  /** Whether a commit waits for a disk, or there is none. */
  boolean isAwaited() {
    return disk == null || isAwaited;
  }

  /** Whether a record is committed once it is appended. */
  boolean isImmediate() {
    return alone && !isAwaited && (disk == null || !disk.isShort());
  }

  /** Whether the owner may take the records later, as nobody waits for it. */
  boolean mayBatch() {
    return isImmediate()
        && (disk == null || isAttended)
        && waiting.get() < Math.min(BATCH_BYTES, capacity / 2);
  }

  boolean hasRoom() {
    return waiting.get() < capacity;
  }

  /** Takes room; returns false if twice as much waits as may. */
  boolean reserve(int length) {
    if (waiting.get() > 2L * capacity) {
      return false;
    }
    waiting.addAndGet(length);
    return true;
  }

  /** Records were appended. */
  void appended() {
    appended = true;
    drive.run();
  }

  /** Whether records may have come that the owner has not taken. */
  boolean hasAppended() {
    return appended;
  }

  /** Tells those partitions that wait for something that has come, without the replica's token. */
  void tell(ErrorHandler errors) {
    if (!changed) {
      return;
    }
    changed = false; // before the look
    for (int i = 0; i <= partitions; i++) {
      final ReplicatedLog log = logs.get(i);
      if (log != null) {
        try {
          log.tell();
        } catch (Throwable t) { // the next one is told all the same
          errors.onError(t);
        }
      }
    }
  }

  // Methods for the replica's owner.

  /** The replica leads another epoch from now on. */
  void epoch(long next) {
    epoch = next;
  }

  /** The epoch that is led has no other member, and is established. */
  void beginAlone() {
    alone = true;
  }

  /**
   * Ends commits without the owner, and moves the records that were committed so far to the log.
   */
  void endAlone(RecordLog log) {
    alone = false;
    VarHandle.fullFence(); // writers append and then look
    drain(log); // what a look preceded
  }

  /** Notes whether the directory of a member exceeds its quota. */
  void membersOverQuota(boolean isExceeded) {
    isMemberOverQuota = isExceeded;
  }

  /** Moves the records that were appended to the log. */
  void drain(RecordLog log) {
    appended = false; // before the look
    for (int i = 0; i <= partitions; i++) {
      final ReplicatedLog partition = logs.get(i);
      if (partition != null) {
        partition.drain(log);
      }
    }
  }

  /** Notes that a record is committed, with all before it. */
  void commit(JournalRecord record) {
    logs.get(record.partition()).noteCommit(record.lsn());
  }

  /** Whether room can be given back, as the disk has taken records that were committed before. */
  boolean hasRoomToGive(long passedBytes) {
    return Math.min(committedBytes, passedBytes) > givenBytes;
  }

  /** The owner begins to take records in short intervals, or does not any more. */
  void attend(boolean isAttendedNow) {
    if (isAttended != isAttendedNow) {
      isAttended = isAttendedNow;
      VarHandle.fullFence(); // writers append and then look
      if (disk != null && !isAttendedNow) {
        appended = true; // perhaps, by a writer that has looked before
      }
    }
  }

  /**
   * Shows the partitions what was noted, and gives room back.
   *
   * @param passedBytes of this log's records that the disk has taken; {@link #UNLIMITED} if commits
   *     wait for it, or there is none
   */
  void committed(long bytes, long passedBytes) {
    committedBytes += bytes;
    final long given = Math.min(committedBytes, passedBytes);
    waiting.addAndGet(givenBytes - given);
    givenBytes = given;
    for (int i = 0; i <= partitions; i++) {
      final ReplicatedLog log = logs.get(i);
      if (log != null) {
        log.showCommit(hasRoom());
      }
    }
    changed = true;
  }

  /**
   * Shows the partitions how far the disk is, where commits do not wait for it.
   *
   * @param position up to which all is durable
   * @param committed position up to which commits were noted
   */
  void durable(long position, long committed) {
    if (isAwaited() || position < markedPosition || (isShown && committed == markedPosition)) {
      return;
    }
    isShown = committed == markedPosition;
    markedPosition = committed;
    for (int i = 0; i <= partitions; i++) {
      final ReplicatedLog log = logs.get(i);
      if (log != null) {
        log.showDurable();
      }
    }
  }

  /** The replica leads no more, or its disk has failed. Idempotent. */
  void fail() {
    if (failed) {
      return;
    }
    failed = true;
    for (int i = 0; i <= partitions; i++) {
      final ReplicatedLog log = logs.get(i);
      if (log != null) {
        log.failed();
      }
    }
    changed = true;
  }
}
