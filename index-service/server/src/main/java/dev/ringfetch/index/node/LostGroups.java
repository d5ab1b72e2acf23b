package dev.ringfetch.index.node;

import dev.ringfetch.index.coordinator.Recoveries;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.Member;
import dev.ringfetch.index.v1.Node;
import dev.ringfetch.index.v1.RecoverIndexRequest;
import dev.ringfetch.index.v1.Trailers;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusException;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Groups of which no node lives that has all: none of the last configuration's processes, at level
 * DISK none of its directories, at LEADER_DISK and INTERVAL not that of its leader. An operator may
 * accept the loss.
 */
public final class LostGroups {
  private static final String NO_LEADER = "the index has no leader now";

  private LostGroups() {}

  /** A node that lives and has all of the group, or may have; null: none. */
  static @Nullable Node survivor(GroupState group, Map<Long, Node> living) {
    final Configuration last = Recoveries.last(group);
    for (final Member member : last.getMembersList()) {
      final Node node = living.get(member.getNode());
      if (node != null
          && (node.getIncarnation() == member.getIncarnation()
              || countsByDirectory(group, last, member.getNode()))) {
        return node;
      }
    }
    return null;
  }

  /** Whether a member leads in whatever process: its disk has all that the level promises. */
  private static boolean countsByDirectory(GroupState group, Configuration last, long node) {
    final IndexDefinition definition = IndexDefinition.of(group);
    final Durability level = definition == null ? null : definition.durability();
    return level == Durability.DISK
        || ((level == Durability.LEADER_DISK || level == Durability.INTERVAL)
            && last.getLeader() == node);
  }

  /**
   * The node that a call for a group is sent to: the leader of the newest configuration, also if it
   * is another process now, which may lead again in a moment. Null if the group is lost, or that
   * node is not announced: it may lead, though nobody knows where, or another one does soon.
   */
  static Node next(GroupState group, Map<Long, Node> living) {
    return survivor(group, living) == null ? null : living.get(newest(group).getLeader());
  }

  private static Configuration newest(GroupState group) {
    return group.hasWon() ? group.getWon() : group.getEstablished();
  }

  /** The node that leads a group by its newest configuration; null if that process has ended. */
  static @Nullable Node leader(GroupState group, Map<Long, Node> living) {
    final Configuration newest = newest(group);
    final Node node = living.get(newest.getLeader());
    final boolean isMember =
        node != null
            && newest.getMembersList().stream()
                .anyMatch(
                    member ->
                        member.getNode() == node.getId()
                            && member.getIncarnation() == node.getIncarnation());
    return isMember ? node : null;
  }

  /** The addresses of the nodes that are announced. */
  public static List<String> addresses(Map<Long, Node> living) {
    return living.values().stream()
        .map(Node::getAddress)
        .filter(address -> !address.isEmpty()) // of a node without others
        .sorted()
        .toList();
  }

  /**
   * The end of a call for a group that a node does not lead, with the addresses of the nodes and of
   * the one to send the call to.
   *
   * @param self the node
   */
  public static StatusException elsewhere(GroupState group, long self, Map<Long, Node> living) {
    final Node node = leader(group, living);
    final Node next = next(group, living);
    final Metadata trailers = new Metadata();
    trailers.put(Trailers.NODES, String.join(",", addresses(living)));
    if (next != null && !next.getAddress().isEmpty()) {
      trailers.put(Trailers.LEADER, next.getAddress()); // this node perhaps, in a moment
    }
    if (node == null || node.getId() == self) {
      return Status.UNAVAILABLE.withDescription(withoutLeader(group, living)).asException(trailers);
    }
    return Status.FAILED_PRECONDITION
        .withDescription(
            "another node leads the index: index="
                + group.getIndex()
                + " leader="
                + node.getAddress())
        .asException(trailers);
  }

  /** Why a group has no leader, as far as the nodes say that are announced. */
  static String withoutLeader(GroupState group, Map<Long, Node> living) {
    final String of = ": index=" + group.getIndex();
    if (survivor(group, living) != null) {
      return NO_LEADER + "; send again" + of;
    }
    final String ended =
        Recoveries.last(group).getMembersList().stream()
            .map(member -> Long.toHexString(member.getNode()))
            .collect(Collectors.joining(","));
    return NO_LEADER + ": none of its last members is announced" + of + " members=" + ended;
  }

  /**
   * Checks that a loss can be accepted.
   *
   * @param seen null if there is no such group
   */
  static void check(@Nullable GroupState seen, RecoverIndexRequest request, Map<Long, Node> living)
      throws StatusException {
    final String index = request.getIndex();
    if (seen == null) {
      throw Status.NOT_FOUND
          .withDescription("there is no such index: index=" + index)
          .asException();
    }
    final Node survivor = survivor(seen, living);
    if (survivor != null) {
      throw refused("a node lives that has all: index=" + index + at(survivor));
    }
    if (!request.getLook()
        && (seen.getVersion() != request.getStateVersion()
            || Recoveries.epoch(seen) != request.getEpoch())) {
      throw changed(index);
    }
    if (seen.getRecovery().getCount() >= Recoveries.LIMIT) {
      throw refused("that was done too often; drop the index: index=" + index);
    }
    if (IndexDefinition.of(seen) == null) {
      throw refused("this version cannot read the index's definition: index=" + index);
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
}
