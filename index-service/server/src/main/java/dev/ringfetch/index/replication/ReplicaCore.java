package dev.ringfetch.index.replication;

import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.log.GroupRecovery;
import dev.ringfetch.index.log.GroupStoreException;
import dev.ringfetch.index.log.LogJournal;
import dev.ringfetch.index.log.RecordLog;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.DiskRoom;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.Member;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The state-independent part of a replica: the gate, the log, and the progress of its store.
 *
 * <p>Used by the replica's owner alone.
 */
final class ReplicaCore {
  /** The disk is told what is committed as often as this while as much comes as may wait. */
  private static final int COMMIT_PARTS = 8;

  private final ReplicaContext context;
  private final RecordLog log;
  private final @Nullable LogJournal journal; // null: the group is in memory alone
  private final PlacedRecords placed;
  final ReplicaCounts counts = new ReplicaCounts();
  private final NodeEnd nodeEnd = new NodeEnd();
  private final Activity activity;
  private RecordLog.Cursor applying;
  private ReplicaState state = ReplicaState.NONE;
  private long gate;
  private long commit;
  private long applied;
  private @Nullable LeaderLog serving; // null unless the store serves
  private @Nullable GroupState begun; // as the disk has it; null: it has nothing

  /** Changes when records are given up, or the store gets another content than by records. */
  private long generation;

  /** Whether the log is that of an earlier process, and nobody was obeyed or led since. */
  private boolean restarted;

  /** Whether the disk has a log that this replica has not. */
  private boolean diskAlone;

  /** Processes of this node that ended in order, all of whose records this replica has. */
  private List<Member> predecessors = List.of();

  /** Whether records may be lost that were acknowledged: no disk was waited for. */
  private boolean mayLack;

  /** Position of the last record that says so; nothing is committed before the disk has it. */
  private long gapEnd;

  private long passedBefore; // bytes that the disk had taken when the store began to serve

  /** Position behind which records are kept, applied or not. */
  private long kept = Long.MAX_VALUE;

  /** Creates one without records. */
  ReplicaCore(ReplicaContext context) {
    this(context, new RecordLog(context.limits().waiting()));
  }

  private ReplicaCore(ReplicaContext context, RecordLog log) {
    this.context = context;
    this.log = log;
    journal =
        context.disk() == null
            ? null
            : new LogJournal(
                context.group(),
                context.disk(),
                log,
                context.limits().waiting() / COMMIT_PARTS,
                context.awaitedDisks() != AwaitedDisks.NONE);
    placed = new PlacedRecords(context);
    activity = new Activity(context.limits(), context.clock().getAsLong());
    applying = log.new Cursor();
  }

  /** Creates one with what an earlier process has left on the disk. */
  static ReplicaCore recovered(ReplicaContext context, GroupRecovery recovery) {
    final ReplicaCore core = new ReplicaCore(context, recovery.takeLog());
    core.gate = recovery.gate();
    core.begun = recovery.state();
    core.diskAlone = recovery.isGivenUp();
    if (recovery.hasLog()) {
      core.applied = recovery.applied();
      core.commit = recovery.applied();
      core.applying.seek(core.applied);
      if (core.journal != null) {
        core.journal.recovered();
        core.mayLack = core.writesLater();
      }
      core.predecessors = recovery.processes();
      core.restarted = true;
      core.state = ReplicaState.MEMBER;
    } else {
      core.context.store().follow();
    }
    return core;
  }

  ReplicaContext context() {
    return context;
  }

  /** The orderly end of the node. */
  NodeEnd nodeEnd() {
    return nodeEnd;
  }

  /** The activity, which decides when the next cycle is due. */
  Activity activity() {
    return activity;
  }

  RecordLog log() {
    return log;
  }

  ReplicaState state() {
    return state;
  }

  /** Changes the state. */
  void become(ReplicaState next) {
    if (!state.allows(next)) {
      throw new IllegalStateException("state=" + state + " next=" + next);
    }
    state = next;
  }

  /** The epoch that this replica obeys. */
  long gate() {
    return gate;
  }

  /**
   * Moves the gate, which closes all earlier epochs, and then takes what was placed in them. If
   * that is lost, the state is {@link ReplicaState#NONE} after this.
   */
  void moveGate(long epoch) {
    if (epoch <= gate) {
      throw new IllegalStateException("gate=" + gate + " epoch=" + epoch);
    }
    final long damagedBefore = placed.damaged();
    context.gate().move(epoch);
    placed.closeGate();
    gate = epoch;
    placed.scan(log);
    restarted = false;
    if (journal != null) {
      journal.moved();
    }
    leaveIfDamaged(damagedBefore);
  }

  /** Whether the log is that of an earlier process, and nobody was obeyed or led since. */
  boolean isRestarted() {
    return restarted;
  }

  /** Keeps the log without which the group goes on, as if the process had restarted. */
  void stepBack() {
    restarted = true;
  }

  /** Processes of this node that ended in order, all of whose records this replica has. */
  List<Member> predecessors() {
    return predecessors;
  }

  /** Whether this replica has all that a member had which ended in order, in another process. */
  boolean standsIn(Configuration configuration) {
    return predecessors.stream().anyMatch(configuration.getMembersList()::contains);
  }

  /** The process of this node whose records this replica has: this one, or an earlier one. */
  long process() {
    return predecessors.isEmpty()
        ? context.self().getIncarnation()
        : predecessors.get(0).getIncarnation();
  }

  /** Keeps records behind a position, applied or not, until told otherwise. */
  void keepFrom(long position) {
    kept = position;
  }

  /**
   * Closes the gate, and takes what was placed before that: nothing comes any more.
   *
   * @return false if that is lost; the state is {@link ReplicaState#NONE} then
   */
  boolean closeForGood() {
    final long before = placed.damaged();
    placed.takeLast(log);
    leaveIfDamaged(before);
    return placed.damaged() == before;
  }

  /** Whether the records go to a disk. */
  boolean hasDisk() {
    return journal != null;
  }

  /** Whether members count only for what their disks have. */
  boolean countsByDisk() {
    return journal != null && context.awaitedDisks() == AwaitedDisks.ALL;
  }

  /** Whether the disk gets the records, and no commit waits for that. */
  boolean writesLater() {
    return journal != null && context.awaitedDisks() == AwaitedDisks.NONE;
  }

  /** Whether the disk has failed. */
  boolean isDiskFailed() {
    return journal != null && journal.isFailed();
  }

  /** Position up to which this replica's records count, -1 for none: durable where that matters. */
  long durable() {
    return journal == null ? log.end() : journal.durable();
  }

  /** Whether the disk has all that is written before anything is committed. */
  boolean hasGapOnDisk() {
    return durable() >= gapEnd;
  }

  /** Position up to which a record is committed once the members have it, where this one leads. */
  long counted() {
    if (!writesLater() || !hasGapOnDisk()) {
      return durable();
    }
    return context.disk().isShort() ? journal.written() : log.end(); // else it may get no room
  }

  /** The room on the disk. */
  DiskRoom diskRoom() {
    return journal == null ? DiskRoom.DISK_ROOM_UNSPECIFIED : journal.room();
  }

  /** Passes on to the disk what has come. */
  void journal() {
    if (journal != null) {
      journal.work(gate, commit);
    }
  }

  /** Takes a record of a snapshot. */
  void restore(JournalRecord record) throws GroupStoreException {
    context.store().restore(record);
    if (journal != null) {
      journal.restore(record);
    }
  }

  /** Whether a snapshot comes faster than the disk takes it. */
  boolean isDiskBehind() {
    return journal != null && journal.isBehind();
  }

  /** The snapshot is whole. */
  void restored() {
    generation++;
    if (journal != null) {
      journal.restored();
    }
  }

  /** The group was dropped: the disk need not keep anything. */
  void drop() {
    if (journal != null) {
      journal.drop();
    }
  }

  /** The state with which the group began on the disk; null: the disk has nothing of it. */
  @Nullable GroupState begun() {
    return begun;
  }

  /** Whether the disk has a log, which may count, that this replica has not. */
  boolean isOnDiskAlone() {
    return diskAlone;
  }

  /** Another number after records were given up, or the store got another content. */
  long generation() {
    return generation;
  }

  /** The way of the log to the disk; null: there is none. */
  @Nullable LogJournal disk() {
    return journal;
  }

  /** Releases records up to a position that the disk has synced. */
  void release(long position) {
    if (journal == null) {
      log.release(Math.min(position, kept));
    } else { // members that restart lack some
      log.release(Math.min(position, journal.written()), context.limits().waiting());
    }
  }

  /** The records that leaders place in this replica's memory. */
  PlacedRecords placed() {
    return placed;
  }

  /**
   * Takes records that the leader has placed; returns whether there are more. If some are lost, the
   * state is {@link ReplicaState#NONE} after this.
   */
  boolean takePlaced() {
    final long damagedBefore = placed.damaged();
    final boolean again = placed.take(log);
    commit(placed.commit());
    leaveIfDamaged(damagedBefore);
    return again;
  }

  /** Is no member any more if records may be lost that the leader has counted by the gate. */
  private void leaveIfDamaged(long before) {
    if (placed.damaged() != before) {
      context
          .errors()
          .onError(new GroupStoreException("placed records are lost: group=" + context.group()));
      leave(ReplicaState.NONE);
    }
  }

  /** Position up to which all is known to be committed. */
  long commit() {
    return commit;
  }

  /** All is committed up to a position, which may lie beyond what the log has. */
  void commit(long position) {
    commit = Math.max(commit, position);
  }

  /** Position up to which the log has all, and all is known to be committed. */
  long committed() {
    return Math.max(applied, Math.min(commit, log.end()));
  }

  /** Nothing is committed behind a position: the leader that said so had what is lost. */
  void forgetCommit(long position) {
    commit = Math.min(commit, position);
  }

  /** Position up to which the store has applied all. */
  long applied() {
    return applied;
  }

  /** The log of the partitions while the store serves; else null. */
  LeaderLog serving() {
    return serving;
  }

  /** Begins without records behind a position, as a snapshot comes or the group is new. */
  void reset(long position, GroupState group) throws GroupStoreException {
    reset(position, group, false);
  }

  /** As above, and says whether a snapshot comes first. */
  void reset(long position, GroupState group, boolean isRestored) throws GroupStoreException {
    context.store().clear(group);
    log.reset(position);
    restarted = false;
    mayLack = false;
    predecessors = List.of();
    generation++;
    begun = group;
    if (journal != null) {
      journal.begin(gate, group, isRestored);
    }
    diskAlone = false; // a leader goes on without the log that was there before
    applying = log.new Cursor();
    applied = position;
    commit = 0;
  }

  /** Gives up the records behind a position, none of which was applied. */
  void cut(long end) {
    generation++;
    log.cut(end);
    applying = log.new Cursor();
    applying.seek(applied);
    if (journal != null) {
      journal.moved();
    }
  }

  /**
   * Gives up records that may not be the group's: other ones may have been acknowledged with their
   * versions.
   *
   * @param epoch that the replica obeyed before
   */
  void cutBeforeRecovery(GroupState won, long epoch) {
    if (Configurations.isBeforeRecovery(won, epoch)) {
      final long end = log.end();
      final long kept = Math.max(Configurations.given(won, epoch, end), committed());
      if (kept < end) {
        cut(kept);
      }
      forgetCommit(kept);
    }
  }

  /**
   * Applies records that are committed, not more than so many.
   *
   * @return whether there are more
   */
  boolean apply(int limit) throws GroupStoreException {
    final long end = Math.min(commit, log.end());
    int left = limit;
    while (applied < end && left-- > 0 && applying.hasNext()) {
      context.store().apply(applying.next());
      applied++;
    }
    release(applied);
    return applied < end;
  }

  /** Begins to serve. */
  void serve(GroupState group, long epoch, Runnable drive) throws GroupStoreException {
    generation++;
    serving = new LeaderLog(context, group, epoch, log.end(), mayLack, drive);
    passedBefore = journal == null ? 0 : journal.passedBytes();
    context.store().lead(serving, group);
    if (mayLack) {
      serving.drain(log);
      gapEnd = log.end();
      journal.urge(gapEnd);
      mayLack = false;
    }
  }

  /** Bytes of the records since then that the disk has taken, where commits do not wait for it. */
  long passedBytes() {
    return writesLater() ? journal.passedBytes() - passedBefore : LeaderLog.UNLIMITED;
  }

  /** Commits records up to a position, which the writers apply, and gives them room back. */
  void commitServed(long position) {
    long bytes = 0;
    while (applied < position) {
      applying.hasNext();
      final JournalRecord record = applying.next();
      bytes += RecordDescriptor.aligned(record.length());
      serving.commit(record);
      applied++;
    }
    commit(position);
    serving.committed(bytes, passedBytes());
  }

  /** Is no member any more, and gives up what it has; or is closed. */
  void leave(ReplicaState next) {
    if (state == next || state == ReplicaState.STOPPED) {
      return;
    }
    placed.closeGate(); // before the records are given up
    placed.withdraw();
    if (serving != null) {
      serving.fail(); // first: writers that the store ends know that it failed
    }
    context.store().follow();
    generation++;
    log.reset(log.end());
    restarted = false;
    predecessors = List.of();
    if (journal != null) {
      diskAlone |= journal.isWhole();
      journal.leave();
    }
    applying = log.new Cursor();
    serving = null;
    become(next);
    if (next == ReplicaState.STOPPED) {
      placed.close();
      context.gate().end();
    }
  }
}
