package dev.ringfetch.index.replication;

import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.v1.GroupState;

/**
 * What a replica has whatever its state is: the gate, the log, and how far its store is.
 *
 * <p>The replica's owner only.
 */
final class ReplicaCore {
  private final ReplicaContext context;
  private final RecordLog log;
  private final PlacedRecords placed;
  private RecordLog.Cursor applying;
  private ReplicaState state = ReplicaState.NONE;
  private long gate;
  private long commit;
  private long applied;
  private LeaderLog serving; // null unless the store serves

  ReplicaCore(ReplicaContext context) {
    this.context = context;
    log = new RecordLog(context.limits().waiting());
    placed = new PlacedRecords(context);
    applying = log.new Cursor();
  }

  ReplicaContext context() {
    return context;
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

  /** Moves the gate, which closes all earlier epochs, and then takes what was placed in them. */
  void moveGate(long epoch) {
    if (epoch <= gate) {
      throw new IllegalStateException("gate=" + gate + " epoch=" + epoch);
    }
    placed.closeGate();
    gate = epoch;
    placed.scan(log);
  }

  /** What leaders place in this replica's memory. */
  PlacedRecords placed() {
    return placed;
  }

  /** Takes records that the leader has placed; returns whether there are more. */
  boolean takePlaced() {
    final boolean again = placed.take(log);
    commit(placed.commit());
    return again;
  }

  /** Position up to which all is known to be committed. */
  long commit() {
    return commit;
  }

  /** All is committed up to a position, which may lie beyond what the log has. */
  void commit(long position) {
    commit = Math.max(commit, position);
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
    context.store().clear(group);
    log.reset(position);
    applying = log.new Cursor();
    applied = position;
    commit = 0;
  }

  /** Gives up the records behind a position, none of which was applied. */
  void cut(long end) {
    log.cut(end);
    applying = log.new Cursor();
    applying.seek(applied);
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
    log.release(applied);
    return applied < end;
  }

  /** Begins to serve. */
  void serve(GroupState group, long epoch, Runnable drive) throws GroupStoreException {
    serving = new LeaderLog(context, epoch, log.end(), drive);
    context.store().lead(serving, group);
  }

  /** Commits records up to a position, which the writers apply. */
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
    serving.committed(bytes);
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
    log.reset(log.end());
    applying = log.new Cursor();
    serving = null;
    become(next);
    if (next == ReplicaState.STOPPED) {
      placed.close();
    }
  }
}
