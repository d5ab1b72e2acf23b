package dev.ringfetch.index.coordinator;

import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.Member;
import dev.ringfetch.index.v1.Recovery;

/**
 * The states of groups after accepted losses: if no node has all records and an operator accepts
 * the loss, the group continues with one node's log, or a group without records replaces it.
 *
 * <p>Both give the index another incarnation, and versions that were not assigned before: versions
 * before the n-th recovery are below n times 2 to the power of {@value #VERSION_BITS}, as no
 * partition has so many writes. Logs of epochs before the recovery are not resumed, as they may
 * have discarded records.
 */
public final class Recoveries {
  /** Limit of consecutive recoveries of the indexes of one name, as versions are limited. */
  public static final int LIMIT = 255;

  private static final int VERSION_BITS = 40;

  private Recoveries() {}

  /** The version after which those of a group begin. */
  public static long versionsBefore(GroupState group) {
    return (long) group.getRecovery().getCount() << VERSION_BITS;
  }

  /** The version after which those begin that belong to the same recovery as this one. */
  public static long versionsBefore(long version) {
    return version >>> VERSION_BITS << VERSION_BITS;
  }

  /** The last configuration that served, or the first one: its members have all records. */
  public static Configuration last(GroupState group) {
    return group.hasEstablished() ? group.getEstablished() : group.getWon();
  }

  /** The newest epoch of a group. */
  public static long epoch(GroupState group) {
    return Math.max(group.getEstablished().getEpoch(), group.getWon().getEpoch());
  }

  /** Whether a configuration names a directory, in any process, as the one with all records. */
  public static boolean isRecovered(Configuration established, long node) {
    return established.getMembersList().stream()
        .anyMatch(member -> member.getNode() == node && member.getIncarnation() == 0);
  }

  /** The next recovery of an index, by a group without records. */
  public static Recovery next(GroupState seen) {
    return Recovery.newBuilder().setCount(seen.getRecovery().getCount() + 1).build();
  }

  /**
   * The state in which a group continues with the log of one directory or process, which is then
   * its only complete member, and leads as after a cold start. The coordinator assigns an epoch to
   * the configuration, so that all processes that have obeyed or won an earlier one leave the
   * group.
   *
   * @param process of the log, if the group is in memory alone; 0 for the directory's log
   * @param nonce of the configuration; not 0
   * @param incarnation of the index from now on; not 0
   */
  public static GroupState recovered(
      GroupState seen, long node, long process, long nonce, long incarnation) {
    final Configuration alone =
        last(seen).toBuilder()
            .clearEpoch() // the coordinator assigns one that no process has won
            .setLeader(node)
            .clearMembers()
            .addMembers(Member.newBuilder().setNode(node).setIncarnation(process))
            .setNonce(nonce)
            .build();
    return seen.toBuilder()
        .setEstablished(alone)
        .clearWon()
        .setRecovery(next(seen).toBuilder().setEpoch(epoch(seen)).setIncarnation(incarnation))
        .build();
  }
}
