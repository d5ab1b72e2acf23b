package dev.ringfetch.index.log;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.Member;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The recovery of a group from a disk: processes the records that {@link LogJournal} has written,
 * in their order. It applies the records that are known to be committed, and keeps the rest of the
 * log. If there is a snapshot, the records of {@code GroupCopy} come first, and the journal's
 * records up to its mark are skipped.
 *
 * <p>Used by one thread at a time.
 */
public final class GroupRecovery {
  private final long group;
  private final GroupStore.Factory stores;
  private final boolean isAlone;
  private @Nullable RecordLog log; // null after takeLog
  private RecordLog.Cursor applying;
  private @Nullable GroupState state; // null before the first begin
  private GroupStore store;
  private boolean hasLog;
  private boolean isDropped;
  private boolean isGivenUp;
  private List<Member> processes = List.of();
  private long gate;
  private long applied;

  /** Position up to which all records are known to be committed. */
  private long committed;

  /** The mark in the journal up to which a snapshot has all; 0: it was met, or there is none. */
  private long awaited;

  /**
   * Creates it, of nothing.
   *
   * @param stores creates what the records are applied to
   */
  public GroupRecovery(long group, GroupStore.Factory stores) {
    this(group, stores, RecordLog.WAITING_DEFAULT);
  }

  public GroupRecovery(long group, GroupStore.Factory stores, int waiting) {
    this(group, stores, waiting, false);
  }

  /**
   * As above.
   *
   * @param isAlone whether no other node ever had the group: nobody else decides what is committed,
   *     so all of the log is, and none of it is kept
   */
  GroupRecovery(long group, GroupStore.Factory stores, int waiting, boolean isAlone) {
    this.group = group;
    this.stores = stores;
    this.isAlone = isAlone;
    log = new RecordLog(waiting);
    applying = log.new Cursor();
  }

  /** Number of the group. */
  public long group() {
    return group;
  }

  /**
   * Whether the disk has records of the group, which was not dropped; of a group in memory, all
   * that a process had that ended in order.
   */
  public boolean isPresent() {
    return state != null && !isDropped && !(isInMemory() && processes.isEmpty());
  }

  /** Whether the group is in memory alone, so that an orderly end has left its records. */
  boolean isInMemory() {
    final IndexDefinition definition = state == null ? null : IndexDefinition.of(state);
    return definition != null && definition.durability() == Durability.MEMORY;
  }

  /** Whether there is a definition, without which nothing can come in the place of what is lost. */
  public boolean isDefined() {
    return store != null;
  }

  /** Processes that ended in order, all of whose records this has; empty where a disk counts. */
  public List<Member> processes() {
    return processes;
  }

  /** Whether there is a whole log, and not a part of a snapshot. */
  public boolean hasLog() {
    return hasLog;
  }

  /** Whether there may be a log that was not read. */
  public boolean isGivenUp() {
    return isGivenUp;
  }

  public GroupState state() {
    return state;
  }

  public GroupStore store() {
    return store;
  }

  /**
   * Returns the log, and drops all references to its records, as each one would keep all later ones
   * in memory.
   */
  public RecordLog takeLog() {
    if (isAlone) {
      log.reset(applied);
    }
    final RecordLog taken = log;
    log = null;
    applying = null;
    return taken;
  }

  /** The newest epoch that was obeyed. */
  public long gate() {
    return gate;
  }

  /** Position up to which the store has all. */
  public long applied() {
    return applied;
  }

  /**
   * Takes the next record.
   *
   * @throws GroupStoreException if it cannot be there, or the store cannot have it: what there is
   *     of the group counts no more, until a snapshot begins. Which epoch was obeyed still does
   */
  public void onRecord(JournalRecord record) throws GroupStoreException {
    if (awaited != 0) {
      awaited = isMark(record, awaited) ? 0 : awaited;
    } else if (record.type() != RecordDescriptor.GROUP_MARK) {
      take(record);
    }
  }

  private static boolean isMark(JournalRecord record, long number) {
    return record.type() == RecordDescriptor.GROUP_MARK && record.number() == number;
  }

  /** So many entries follow, as far as is known. */
  void expect(long entries) {
    if (!isGivenUp) {
      store.expect(entries);
    }
  }

  /** Takes the next record of a snapshot, all of which come first; else as {@link #onRecord}. */
  public void onSnapshotRecord(JournalRecord record) throws GroupStoreException {
    if (record.type() == RecordDescriptor.GROUP_MARK) {
      awaited = record.number();
    } else {
      take(record);
    }
  }

  /**
   * All records have come.
   *
   * @throws GroupStoreException if the store cannot have them: they count no more
   */
  void recovered() throws GroupStoreException {
    if (store != null && !isGivenUp && !isDropped) {
      try {
        store.recovered();
      } catch (GroupStoreException e) {
        discard();
        throw e;
      }
    }
  }

  /** Whether the journal ends before the mark up to which the snapshot has all. */
  boolean lacksMark() {
    return awaited != 0;
  }

  private void take(JournalRecord record) throws GroupStoreException {
    try {
      if (!isGivenUp || record.type() == RecordDescriptor.GROUP_BEGIN) {
        carryOut(record);
      } else if (record.type() == RecordDescriptor.GROUP_END) {
        isDropped = true;
      } else {
        obey(record);
      }
    } catch (GroupStoreException e) {
      discard();
      obey(record);
      throw e;
    }
  }

  /** Discards the content, which does not count. */
  void discard() {
    isGivenUp = true;
    hasLog = false;
    processes = List.of();
    clearLog();
    if (store != null) {
      store.follow();
    }
  }

  private void obey(JournalRecord record) {
    if (record.type() == RecordDescriptor.GROUP_EPOCH
        || record.type() == RecordDescriptor.GROUP_BEGIN) {
      gate = Math.max(gate, record.epoch());
    }
  }

  private void carryOut(JournalRecord record) throws GroupStoreException {
    if (isDropped) {
      throw damaged(record);
    }
    switch (record.type()) {
      case RecordDescriptor.GROUP_BEGIN -> begin(record);
      case RecordDescriptor.GROUP_EPOCH -> move(record);
      case RecordDescriptor.GROUP_COMMIT -> {
        committed = Math.max(committed, record.number());
        apply();
      }
      case RecordDescriptor.GROUP_STOP -> stop(record);
      case RecordDescriptor.GROUP_END -> {
        isDropped = true;
        hasLog = false;
        if (store != null) {
          store.follow();
        }
      }
      default -> add(record);
    }
  }

  private void begin(JournalRecord record) throws GroupStoreException {
    try {
      state = GroupState.parseFrom(record.value());
    } catch (InvalidProtocolBufferException e) {
      throw new GroupStoreException("not a group's state: " + record, e);
    }
    if (store == null) {
      store = stores.create(state);
    } else {
      store.follow();
    }
    store.clear(state);
    gate = record.epoch();
    hasLog = false;
    clearLog();
    isGivenUp = false;
  }

  private void stop(JournalRecord record) throws GroupStoreException {
    try {
      processes = List.copyOf(Configuration.parseFrom(record.value()).getMembersList());
    } catch (InvalidProtocolBufferException e) {
      throw new GroupStoreException("not the processes of a node: " + record, e);
    }
    if (!hasLog || processes.isEmpty()) {
      throw damaged(record);
    }
  }

  private void clearLog() {
    log.reset(0);
    applied = 0;
    committed = 0;
    restart();
  }

  private void move(JournalRecord record) throws GroupStoreException {
    final long position = record.number();
    if (state == null || (hasLog && (position < applied || position > end()))) {
      throw damaged(record);
    }
    if (hasLog && !isAlone) {
      log.cut(position);
      restart();
    } else if (!hasLog) {
      log.reset(position);
      applied = position;
      restart();
      hasLog = true;
    }
    gate = record.epoch();
  }

  private long end() {
    return isAlone ? applied : log.end();
  }

  private void restart() {
    applying = log.new Cursor();
    applying.seek(applied);
  }

  private void add(JournalRecord record) throws GroupStoreException {
    if (state == null || hasLog == (record.epoch() == 0)) {
      throw damaged(record);
    }
    if (!hasLog) {
      store.restore(record);
      return;
    }
    if (isAlone) {
      store.apply(record);
      applied++;
      return;
    }
    log.add(record);
    if (log.end() <= committed) {
      apply();
    }
  }

  /**
   * Applies all of the log, for a store that is only read: all that was acknowledged is in it, and
   * perhaps what was not committed when the node ended.
   *
   * @throws GroupStoreException if the store cannot have it
   */
  public void applyLog() throws GroupStoreException {
    committed = log.end();
    apply();
  }

  private void apply() throws GroupStoreException {
    while (applied < committed && applying.hasNext()) {
      store.apply(applying.next());
      applied++;
    }
    log.release(applied, 0);
  }

  private GroupStoreException damaged(JournalRecord record) {
    return new GroupStoreException(
        "not a record that can be: " + record + " end=" + end() + " applied=" + applied);
  }
}
