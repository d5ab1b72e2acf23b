package dev.ringfetch.index.log;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.v1.DiskRoom;
import dev.ringfetch.index.v1.GroupState;
import java.util.ArrayDeque;

/**
 * The writer of a replica's log to its disk: all records in their order, committed or not, and the
 * epoch that the replica obeys. {@link GroupRecovery} reads them.
 *
 * <p>A position counts as durable only if the epoch is durable, too: a member that has confirmed a
 * record still knows after a restart which leader it obeyed.
 *
 * <p>Records of a snapshot have no log that keeps them until the disk has room. They wait here, and
 * {@link #isBehind} tells that the sender has to wait with further ones.
 *
 * <p>Used by the replica's owner alone.
 */
public final class LogJournal {
  /** So many times the bytes of a commit may be under way to the disk before a snapshot waits. */
  private static final int AHEAD_PARTS = 4;

  /** So many times that may wait without room: no leader sends more that is not answered. */
  private static final int WAITING_PARTS = 64;

  /** A position, and the number of the disk's records after which it is durable. */
  private record Mark(long count, long position) {}

  private final long group;
  private final GroupDisk disk;
  private final RecordLog log;
  private final int commitBytes;
  private final boolean isAwaited;
  private final ArrayDeque<Mark> marks = new ArrayDeque<>();
  private final ArrayDeque<byte[]> waiting = new ArrayDeque<>(); // for room, before the log
  private long waitingBytes;
  private long syncing; // number of the disk's records with which the older bytes are durable
  private long olderBytes; // of a snapshot, under way to the disk
  private long newerBytes;
  private RecordLog.Cursor cursor;
  private boolean isWhole; // the log follows, not a snapshot
  private boolean isEpochDue;
  private boolean isDropped;
  private boolean isRefused; // whether the last cycle had a record without room
  private long durable = -1;
  private long commit;
  private long bytesSinceCommit;
  private long passedBytes; // of the log
  private long urgentEnd; // position up to which something waits for the disk

  /**
   * Creates it.
   *
   * @param commitBytes of records after which the disk is told what is committed: what is not known
   *     to be committed, a restart keeps in memory
   * @param isAwaited whether commits wait for the disk, which then gets each record as soon as
   *     possible; else after the node's interval
   */
  public LogJournal(long group, GroupDisk disk, RecordLog log, int commitBytes, boolean isAwaited) {
    this.group = group;
    this.isAwaited = isAwaited;
    this.commitBytes = commitBytes;
    this.disk = disk;
    this.log = log;
    cursor = log.new Cursor();
  }

  /** Whether nothing becomes durable any more. */
  public boolean isFailed() {
    return isDropped || disk.isFailed();
  }

  /** The room on the disk: none where it is short and refuses what there is to be written. */
  public DiskRoom room() {
    if (!disk.isShort()) {
      return disk.isOverQuota() ? DiskRoom.DISK_ROOM_OVER_QUOTA : DiskRoom.DISK_ROOM_UNSPECIFIED;
    }
    return isRefused ? DiskRoom.DISK_ROOM_NONE : DiskRoom.DISK_ROOM_SHORT;
  }

  /** Goes on with a log that the disk has, up to its end. */
  public void recovered() {
    cursor = log.new Cursor();
    cursor.seek(log.end());
    isWhole = true;
  }

  /**
   * Begins anew.
   *
   * @param isRestored whether a snapshot comes first
   */
  public void begin(long epoch, GroupState state, boolean isRestored) throws GroupStoreException {
    clearWaiting(); // a snapshot that is given up
    pass(control(RecordDescriptor.GROUP_BEGIN, epoch, state.toByteString()));
    restart();
    isWhole = !isRestored;
    isEpochDue = true;
    commit = 0;
  }

  /** Takes a record of the snapshot; those of clients say nowhere else whose they are. */
  public void restore(JournalRecord record) throws GroupStoreException {
    final byte[] copy = new byte[RecordDescriptor.aligned(record.length())];
    record.copyTo(copy, 0);
    GroupRecords.own(group, new JournalRecord().at(copy, 0));
    pass(copy);
  }

  /** Passes a record on before the log, or keeps it until there is room. */
  private void pass(byte[] record) throws GroupStoreException {
    if (isFailed() || waitingBytes > (long) WAITING_PARTS * commitBytes) {
      throw new GroupStoreException(
          "the journal has failed, or the leader does not wait for it: group=" + group);
    }
    if (!waiting.isEmpty() || !append(record, 0, record.length, true)) {
      waiting.add(record);
      waitingBytes += record.length;
    } else {
      newerBytes += record.length;
    }
  }

  /** Passes on what waits, as far as there is room; returns whether nothing waits any more. */
  private boolean passWaiting() {
    while (!waiting.isEmpty() && append(waiting.peek(), 0, waiting.peek().length, true)) {
      final int length = waiting.poll().length;
      waitingBytes -= length;
      newerBytes += length;
    }
    return waiting.isEmpty();
  }

  private void clearWaiting() {
    waiting.clear();
    waitingBytes = 0;
  }

  /**
   * Whether a snapshot comes faster than the disk takes it. Other groups' records queue behind what
   * is under way: that is limited, too, and not the disk's room alone.
   */
  public boolean isBehind() {
    final long count = disk.durable();
    if (count >= syncing) {
      syncing = disk.appended();
      olderBytes = count < syncing ? newerBytes : 0;
      newerBytes = 0;
    }
    return !waiting.isEmpty() || olderBytes + newerBytes > (long) AHEAD_PARTS * commitBytes;
  }

  /** The snapshot is whole, and the log goes on from where it begins. */
  public void restored() {
    isWhole = true;
  }

  /** Another epoch is obeyed, or records were given up: nothing counts before the disk has that. */
  public void moved() {
    final long position = Math.min(cursor.position(), log.end());
    restart();
    cursor.seek(position);
    isEpochDue = true;
  }

  private void restart() {
    cursor = log.new Cursor();
    marks.clear();
    durable = -1;
    urge(log.end());
  }

  /** Notes that something waits until the log is durable up to a position. */
  public void urge(long position) {
    urgentEnd = position;
  }

  /** Notes that the replica is no longer a member: the disk keeps its records. */
  public void leave() {
    restart();
    clearWaiting();
    isWhole = false;
  }

  /** Records that the group was dropped; no record follows. */
  public void drop() {
    leave();
    final byte[] record = control(RecordDescriptor.GROUP_END, 0, ByteString.EMPTY);
    disk.append(record, 0, record.length, true); // without room: the next start drops it again
    isDropped = true;
    disk.close();
  }

  /** Position up to which the disk need not have more. */
  public long written() {
    return isWhole ? cursor.position() : log.base();
  }

  /** Bytes of the log's records that were passed on. */
  public long passedBytes() {
    return passedBytes;
  }

  /** Passes on what has come, as far as there is room. */
  public void work(long epoch, long committed) {
    isRefused = false;
    final boolean isPassed = passWaiting();
    if (!isPassed || !isWhole) {
      return;
    }
    boolean isNew = isEpochDue;
    if (isEpochDue) {
      if (!tryAppend(
          RecordDescriptor.GROUP_EPOCH, epoch, RecordDescriptor.value(cursor.position()), true)) {
        return;
      }
      isEpochDue = false;
    }
    boolean hasRoom = true;
    while (hasRoom && cursor.hasNext()) {
      final long position = cursor.position();
      final int offset = cursor.offset();
      final int length = cursor.skipped();
      final boolean isUrgent = isAwaited || position < urgentEnd;
      hasRoom = append(cursor.array(), offset, length, isUrgent);
      if (hasRoom) {
        isNew = true;
        passedBytes += length;
        bytesSinceCommit += length;
      } else {
        cursor.seek(position);
      }
    }
    if (isNew) {
      marks.add(new Mark(disk.appended(), cursor.position()));
    }
    final long known = Math.min(committed, cursor.position());
    if (known > commit
        && bytesSinceCommit >= commitBytes
        && tryAppend(
            RecordDescriptor.GROUP_COMMIT, epoch, RecordDescriptor.value(known), isAwaited)) {
      commit = known;
      bytesSinceCommit = 0;
    }
  }

  /** Position up to which the log is durable; -1 if not even the epoch is. */
  public long durable() {
    final long count = disk.durable();
    while (!marks.isEmpty() && marks.peek().count() <= count) {
      durable = marks.poll().position();
    }
    return durable;
  }

  /**
   * Marks how far the disk has come, for a snapshot that has all up to there.
   *
   * @return false if there is no room now, or something is to be written first
   */
  public boolean mark(long epoch, long number) {
    return waiting.isEmpty()
        && !(isWhole && isEpochDue)
        && tryAppend(RecordDescriptor.GROUP_MARK, epoch, RecordDescriptor.value(number), true);
  }

  /** Whether the disk gets the group's log, not a part of a snapshot. */
  public boolean isWhole() {
    return isWhole;
  }

  /** Number of the disk's records so far. */
  public long appended() {
    return disk.appended();
  }

  private boolean tryAppend(int type, long epoch, ByteString value, boolean isUrgent) {
    final byte[] record = control(type, epoch, value);
    return append(record, 0, record.length, isUrgent);
  }

  private boolean append(byte[] bytes, int offset, int length, boolean isUrgent) {
    final boolean isTaken = disk.append(bytes, offset, length, isUrgent);
    isRefused |= !isTaken;
    return isTaken;
  }

  private byte[] control(int type, long epoch, ByteString value) {
    return GroupRecords.control(group, type, epoch, value);
  }
}
