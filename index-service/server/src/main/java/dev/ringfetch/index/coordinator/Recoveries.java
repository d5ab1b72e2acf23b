package dev.ringfetch.index.coordinator;

import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.Member;
import dev.ringfetch.index.v1.Recovery;

/**
 * What becomes of a group of which no node has all, once an operator accepts the loss: it goes on
 * with one node's log, or a group without records takes its place.
 *
 * <p>Both give the index another incarnation, and versions that were not given before: those before
 * the n-th recovery are less than n times 2 to the power of {@value #VERSION_BITS}, as no partition
 * is written so often. Logs of epochs before the recovery are not resumed: they may have records
 * that were given up.
 */
public final class Recoveries {
  /** The most recoveries of the indexes of one name that follow one another: versions end. */
  public static final int LIMIT = 255;

  private static final int VERSION_BITS = 40;

  private Recoveries() {}

  /** The version behind which those of a group begin. */
  public static long versionsBefore(GroupState group) {
    return (long) group.getRecovery().getCount() << VERSION_BITS;
  }

  /** The last configuration that served, or the first: its members have all. */
  public static Configuration last(GroupState group) {
    return group.hasEstablished() ? group.getEstablished() : group.getWon();
  }

  /** The newest epoch of a group. */
  public static long epoch(GroupState group) {
    return Math.max(group.getEstablished().getEpoch(), group.getWon().getEpoch());
  }

  /** Whether a configuration names a directory, in whatever process, as the one that has all. */
  public static boolean isRecovered(Configuration established, long node) {
    return established.getMembersList().stream()
        .anyMatch(member -> member.getNode() == node && member.getIncarnation() == 0);
  }

  /** The next recovery of an index, by a group without records. */
  public static Recovery next(GroupState seen) {
    return Recovery.newBuilder().setCount(seen.getRecovery().getCount() + 1).build();
  }

  /**
   * The state in which a group goes on with the log of one directory, or one process: that alone
   * counts as a member which has all, and leads as after the end of all nodes. The coordinator
   * gives the configuration an epoch, so that each process which has obeyed or won an earlier one
   * leaves the group.
   *
   * @param process whose log it is, where the group is in memory alone; 0: the directory's
   * @param nonce of the configuration; not 0
   * @param incarnation of the index from now on; not 0
   */
  public static GroupState recovered(
      GroupState seen, long node, long process, long nonce, long incarnation) {
    final Configuration alone =
        last(seen).toBuilder()
            .clearEpoch() // one of its own, that no process has won
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
