package dev.ringfetch.index.replication;

import dev.ringfetch.index.log.GroupStoreException;
import dev.ringfetch.index.v1.GroupState;
import org.jspecify.annotations.Nullable;

/** The description of a replica's own log, for operators. */
final class OwnLog {
  private OwnLog() {}

  /**
   * The part of the log that belongs to the group by the group's state. A log that considers
   * discarded records as committed counts as none, because it would bring them back.
   *
   * @param group as the replica knows it; null if it does not
   * @param mayWin whether the replica has all records
   */
  static ReplicaStatus.Log of(ReplicaCore core, @Nullable GroupState group, boolean mayWin) {
    final boolean isUnread =
        core.state() == ReplicaState.STOPPED || core.isOnDiskAlone() || isJoiningWithLog(core);
    if (group == null) {
      return ReplicaStatus.Log.none(false, true);
    }
    if (core.state() != ReplicaState.MEMBER) {
      return ReplicaStatus.Log.none(mayWin, isUnread);
    }
    final long given = Configurations.given(group, core.gate(), core.log().end());
    if (given < core.committed()
        && (core.writesLater() || Configurations.isBeforeRecovery(group, core.gate()))) {
      return ReplicaStatus.Log.none(mayWin, !mayWin);
    }
    return new ReplicaStatus.Log(
        core.gate(),
        Math.max(given, core.committed()),
        core.hasDisk() ? 0 : core.process(),
        mayWin,
        isUnread);
  }

  /** The failure of a replica whose directory is older than the one that the group counts on. */
  static GroupStoreException olderState(ReplicaCore core, GroupState group) {
    return new GroupStoreException(
        "the data directory is an older state, or a copy, of the one that has the index: start the"
            + " node on that, or end it and start it on an empty one: index="
            + group.getIndex()
            + " epoch="
            + core.gate()
            + " established="
            + group.getEstablished().getEpoch());
  }

  /** Whether the disk has a log that counts once the process restarts; it lacks a leader's tail. */
  private static boolean isJoiningWithLog(ReplicaCore core) {
    return core.state() == ReplicaState.JOINING && core.hasDisk() && core.disk().isWhole();
  }
}
