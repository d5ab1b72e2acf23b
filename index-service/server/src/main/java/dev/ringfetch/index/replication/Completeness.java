package dev.ringfetch.index.replication;

import dev.ringfetch.index.coordinator.Recoveries;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.GroupState;
import org.jspecify.annotations.Nullable;

/** Predicates of a replica's records: whether they are complete, and whether they count at all. */
final class Completeness {
  private Completeness() {}

  /** Whether a replica may lead, as a complete member of the configuration that counts. */
  static boolean mayWin(ReplicaCore core, GroupState group) {
    return (core.state() == ReplicaState.MEMBER
            || core.state() == ReplicaState.WINNING
            || core.state().isLeader())
        && isComplete(core, group);
  }

  /**
   * Whether the records of an earlier process may be void, or count only in an accepted loss, or
   * the directory is an older state: records may have been given up since then, of which a leader
   * that takes the replica for another process's successor knows nothing.
   *
   * @param group null if none was seen
   * @param mayStopCount whether the record of an orderly stop may count
   */
  static boolean isUnsure(ReplicaCore core, @Nullable GroupState group, boolean mayStopCount) {
    if (core.hasDisk() && core.isRestarted() && (group == null || isOlderState(core, group))) {
      return true; // leaders may take it for complete
    }
    return mayStopCount && (group == null || (core.isRestarted() && !mayWin(core, group)));
  }

  /**
   * Whether a replica has each record that was acknowledged in the configuration that counts, as
   * far as the level promises that: it is a member; or stands for one by its disk, or by what a
   * process has left that ended in order.
   */
  static boolean isComplete(ReplicaCore core, GroupState group) {
    final Configuration base = Configurations.base(group);
    return Configurations.has(base, core.context().self())
        || (isNamed(core, base) ? !isOlderState(core, group) : core.standsIn(base));
  }

  /** Whether a configuration names a replica's directory as one that has all. */
  private static boolean isNamed(ReplicaCore core, Configuration base) {
    final long self = core.context().self().getId();
    return core.countsByDisk()
        ? Configurations.hasNode(base, self)
        : core.hasDisk() && base.getLeader() == self;
  }

  /**
   * Whether the disk is an older state of the directory that the established configuration names,
   * or of a copy of it: that directory has the epoch, as it had before the epoch was established.
   */
  static boolean isOlderState(ReplicaCore core, GroupState group) {
    final Configuration established = group.getEstablished();
    return core.hasDisk()
        && core.gate() < established.getEpoch()
        && isNamed(core, established)
        && !Configurations.has(established, core.context().self())
        && !Recoveries.isRecovered(established, core.context().self().getId());
  }

  /**
   * Whether a log that is of an earlier process may count, or be resumed, or be all that is left.
   *
   * @param isGone whether nobody of the established configuration is announced
   */
  static boolean isOfUse(ReplicaCore core, GroupState group, boolean isGone) {
    final Configuration established = group.getEstablished();
    return isGone
        || (core.hasDisk()
            && (Configurations.hasNode(established, core.context().self().getId())
                || established.getMembersCount() < group.getReplicas()));
  }

  /**
   * Whether a member without which the group goes on keeps its log, as the group lacks members, and
   * the log may be of use to it.
   */
  static boolean mayStepBack(ReplicaCore core, GroupState without) {
    return core.state() == ReplicaState.MEMBER
        && core.countsByDisk()
        && without.getEstablished().getMembersCount() < without.getReplicas()
        && !Configurations.isBeforeRecovery(without, core.gate());
  }

  /**
   * Whether the records of this directory count nowhere any more: a configuration is established
   * without it, which is not older than those in which it was a member.
   *
   * @param isGone whether nobody of the established configuration is announced
   */
  static boolean isForgotten(ReplicaCore core, GroupState group, boolean isGone) {
    return group.getEstablished().getEpoch() >= core.gate()
        && group.hasEstablished()
        && !Configurations.hasNode(group.getEstablished(), core.context().self().getId())
        && !(core.isRestarted() && isGone);
  }
}
