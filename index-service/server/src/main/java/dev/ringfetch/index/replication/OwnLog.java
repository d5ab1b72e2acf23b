package dev.ringfetch.index.replication;

import dev.ringfetch.index.v1.GroupState;

/** What a replica says of its log. */
final class OwnLog {
  private OwnLog() {}

  /**
   * What there is of the log, as far as the group goes by its state. A log that knows as committed
   * what was given up once is none: it would bring that back.
   *
   * @param group as the replica knows it; null: it does not
   * @param mayWin whether the replica has all
   */
  static ReplicaStatus.Log of(ReplicaCore core, GroupState group, boolean mayWin) {
    final boolean isUnread =
        core.state() == ReplicaState.STOPPED || core.isOnDiskAlone() || isJoiningWithLog(core);
    if (group == null) {
      return ReplicaStatus.Log.none(false, true);
    }
    if (core.state() != ReplicaState.MEMBER) {
      return ReplicaStatus.Log.none(mayWin, isUnread);
    }
    final long given = Configurations.given(group, core.gate(), core.log().end());
    if (given < core.committed() && Configurations.isBeforeRecovery(group, core.gate())) {
      return ReplicaStatus.Log.none(mayWin, !mayWin);
    }
    return new ReplicaStatus.Log(
        core.gate(),
        Math.max(given, core.committed()),
        core.hasDisk() ? 0 : core.process(),
        mayWin,
        isUnread);
  }

  /** Whether the disk has a log that counts once the process restarts; it lacks a leader's tail. */
  private static boolean isJoiningWithLog(ReplicaCore core) {
    return core.state() == ReplicaState.JOINING && core.hasDisk() && core.disk().isWhole();
  }
}
