package dev.ringfetch.index.replication;

import dev.ringfetch.index.coordinator.Recoveries;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.GroupState;

/** Predicates of a replica's records: whether they are complete, and whether they count at all. */
final class Completeness {
  private Completeness() {}

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
