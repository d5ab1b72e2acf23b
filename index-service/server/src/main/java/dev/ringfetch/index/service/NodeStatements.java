package dev.ringfetch.index.service;

import dev.ringfetch.index.coordinator.Recoveries;
import dev.ringfetch.index.v1.DescribeClusterResponse;
import dev.ringfetch.index.v1.GroupDescription;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.Node;
import dev.ringfetch.index.v1.RecoverIndexRequest;
import io.grpc.Status;
import io.grpc.StatusException;
import java.util.Comparator;
import java.util.Map;

/**
 * What all nodes that are announced say of a lost group. Its loss is accepted only if none of them
 * is silent, has all of it, or may have more than it says, and with the best of their logs.
 */
final class NodeStatements {
  /** The best one last: by the records of the group, then by the epoch. */
  private static final Comparator<GroupDescription> LOGS =
      Comparator.comparingLong(GroupDescription::getLogPosition)
          .thenComparing(GroupDescription::getLogEpoch, Long::compareUnsigned);

  private NodeStatements() {}

  /**
   * Checks that nothing is given up which one of the nodes has.
   *
   * @param living all that are announced
   * @param answers of those that have answered, by their ids
   */
  static void check(
      GroupState seen,
      RecoverIndexRequest request,
      Map<Long, Node> living,
      Map<Long, DescribeClusterResponse> answers)
      throws StatusException {
    GroupDescription best = null;
    GroupDescription chosen = null;
    for (final Node node : living.values()) {
      final DescribeClusterResponse answer = answers.get(node.getId());
      if (answer == null) {
        throw refused("a node does not answer; end it, or wait", seen, node);
      }
      if (!answer.getAcceptsLosses()) {
        throw refused("a node is of an earlier version; replace it first", seen, node);
      }
      if (!answer.getCoordinatorReached()) {
        throw refused("a node does not reach the coordinator; end it, or wait", seen, node);
      }
      final GroupDescription said = of(seen, answer);
      if (said == null) {
        throw refused("a node has not seen the last change; send again", seen, node);
      }
      if (said.getWhole() || said.getRole().equals("LEADING")) {
        throw refused("a node lives that has all", seen, node);
      }
      if (said.getMayHaveMore()) {
        throw refused("a node may have more than it says; end it, or start it again", seen, node);
      }
      if (said.getLogEpoch() != 0 && (best == null || LOGS.compare(best, said) < 0)) {
        best = said;
      }
      if (node.getId() == request.getNode()) {
        chosen = said;
      }
    }
    if (request.getNode() == 0 ? best != null : chosen == null || chosen.getLogEpoch() == 0) {
      throw refused(
          request.getNode() == 0
              ? "a node has a log with which it can go on; look again"
              : "the node has no log with which it can go on; look again",
          seen,
          living.get(request.getNode()));
    }
    if (best != null && LOGS.compare(chosen, best) < 0) {
      throw refused("another node has more; look again", seen, living.get(request.getNode()));
    }
  }

  /** What an answer says of the group as it was seen; null: it is of another state. */
  private static GroupDescription of(GroupState seen, DescribeClusterResponse answer) {
    for (final GroupDescription group : answer.getGroupsList()) {
      if (group.getIndex().equals(seen.getIndex())
          && group.getStateVersion() == seen.getVersion()
          && group.getEpoch() == Recoveries.epoch(seen)) {
        return group;
      }
    }
    return null;
  }

  private static StatusException refused(String why, GroupState seen, Node node) {
    return Status.FAILED_PRECONDITION
        .withDescription(
            why + ": index=" + seen.getIndex() + (node == null ? "" : " node=" + node.getAddress()))
        .asException();
  }
}
