package dev.ringfetch.index.service;

import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.partition.CommitLog;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.Member;
import dev.ringfetch.index.v1.Node;
import dev.ringfetch.index.v1.RecoverIndexRequest;
import dev.ringfetch.index.v1.Recovery;
import io.grpc.Status;
import io.grpc.StatusException;
import java.util.Map;
import java.util.random.RandomGenerator;

/**
 * Groups of which no node lives that has all: none of the last configuration's processes, at level
 * DISK none of its directories. An operator may accept the loss: the group goes on with what another
 * directory has, or its index begins anew without entries.
 *
 * <p>Both give the index another incarnation, and versions that were not given before: those before
 * the n-th recovery are less than n times 2 to the power of {@value #VERSION_BITS}, as no partition
 * is written so often.
 */
final class LostGroups {
  private static final int VERSION_BITS = 40;
  private static final long COUNT_MAX = CommitLog.MAX_LSN >> VERSION_BITS;

  private LostGroups() {}

  /** The version behind which those of a group begin. */
  static long versionsBefore(GroupState group) {
    return (long) group.getRecovery().getCount() << VERSION_BITS;
  }

  /** A node that lives and has all of the group, or may have; null: none. */
  static Node survivor(GroupState group, Map<Long, Node> living) {
    final IndexDefinition definition = IndexDefinition.of(group);
    final boolean isOnDisk = definition != null && definition.durability() == Durability.DISK;
    for (final Member member : last(group).getMembersList()) {
      final Node node = living.get(member.getNode());
      if (node != null && (isOnDisk || node.getIncarnation() == member.getIncarnation())) {
        return node;
      }
    }
    return null;
  }

  private static Configuration last(GroupState group) {
    return group.hasEstablished() ? group.getEstablished() : group.getWon();
  }

  /** The newest epoch of a group. */
  static long epoch(GroupState group) {
    return Math.max(group.getEstablished().getEpoch(), group.getWon().getEpoch());
  }

  /**
   * Checks that a loss can be accepted.
   *
   * @param seen null if there is no such group
   */
  static void check(GroupState seen, RecoverIndexRequest request, Map<Long, Node> living)
      throws StatusException {
    final String index = request.getIndex();
    if (seen == null) {
      throw Status.NOT_FOUND.withDescription("there is no such index: index=" + index).asException();
    }
    final Node survivor = survivor(seen, living);
    if (survivor != null) {
      throw refused("a node lives that has all: index=" + index + at(survivor));
    }
    if (seen.getVersion() != request.getStateVersion() || epoch(seen) != request.getEpoch()) {
      throw changed(index);
    }
    if (seen.getRecovery().getCount() >= COUNT_MAX) {
      throw refused("that was done too often; drop the index: index=" + index);
    }
    final Node node = living.get(request.getNode());
    final IndexDefinition definition = IndexDefinition.of(seen);
    if (request.getNode() != 0
        && (node == null || !node.getDisk() || definition.durability() != Durability.DISK)) {
      throw refused("the node does not live, or has no log of the index: index=" + index);
    }
  }

  private static String at(Node node) {
    return " node=" + node.getAddress();
  }

  private static StatusException refused(String why) {
    return Status.FAILED_PRECONDITION.withDescription(why).asException();
  }

  /** The group is another one than the caller has seen. */
  static StatusException changed(String index) {
    return refused("the group has changed meanwhile; look again: index=" + index);
  }

  /** The next recovery of an index. */
  static Recovery next(GroupState seen) {
    return Recovery.newBuilder().setCount(seen.getRecovery().getCount() + 1).build();
  }

  /**
   * The state in which a group goes on with the log of one directory: that alone counts as a member
   * which has all, and leads as after the end of all nodes.
   */
  static GroupState recovered(GroupState seen, long node, RandomGenerator random) {
    final Configuration alone =
        last(seen).toBuilder()
            .setEpoch(epoch(seen))
            .setLeader(node)
            .clearMembers()
            .addMembers(Member.newBuilder().setNode(node)) // in whatever process
            .setNonce(random.nextLong() | 1)
            .build();
    return seen.toBuilder()
        .setEstablished(alone)
        .clearWon()
        .setRecovery(
            next(seen).toBuilder()
                .setEpoch(epoch(seen))
                .setIncarnation(random.nextLong() | 1))
        .build();
  }
}
