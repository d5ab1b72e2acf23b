package dev.ringfetch.index.node;

import dev.ringfetch.index.coordinator.Recoveries;
import dev.ringfetch.index.v1.DescribeClusterResponse;
import dev.ringfetch.index.v1.GroupDescription;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.LostCopy;
import dev.ringfetch.index.v1.Node;
import dev.ringfetch.index.v1.NodeDescription;
import dev.ringfetch.index.v1.UnreadFile;
import io.grpc.Status;
import io.grpc.StatusException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The statements of all announced nodes about a lost group. Its loss is accepted only if none of
 * them is silent, has all of it, or may have more than it says, and with a log than which none is
 * better.
 */
final class NodeStatements {
  /** The best one first: by the records of the group, then by the epoch; those without one last. */
  private static final Comparator<LostCopy> BEST_FIRST =
      Comparator.<LostCopy>comparingLong(LostCopy::getLogPosition)
          .thenComparing(LostCopy::getLogEpoch, Long::compareUnsigned)
          .reversed();

  private final GroupState seen;
  private final List<LostCopy> copies = new ArrayList<>();

  /**
   * Puts the statements together.
   *
   * @param givenUp files that count as none although they cannot be read
   * @param living all nodes that are announced
   * @param answers of those that have answered, by their ids
   */
  NodeStatements(
      GroupState seen,
      Collection<UnreadFile> givenUp,
      Map<Long, Node> living,
      Map<Long, DescribeClusterResponse> answers) {
    this.seen = seen;
    for (final Node node : living.values()) {
      copies.add(copy(node, answers.get(node.getId()), givenUp));
    }
    copies.sort(BEST_FIRST);
  }

  private LostCopy copy(Node node, DescribeClusterResponse answer, Collection<UnreadFile> givenUp) {
    final LostCopy.Builder copy =
        LostCopy.newBuilder()
            .setNode(
                NodeDescription.newBuilder().setNode(node.getId()).setAddress(node.getAddress()));
    if (answer == null) {
      return copy.setObstacle("a node does not answer; end it, or wait").build();
    }
    if (!answer.getAcceptsLosses()) {
      return copy.setObstacle("a node is of an earlier version; replace it first").build();
    }
    if (!answer.getCoordinatorReached()) {
      return copy.setObstacle("a node does not reach the coordinator; end it, or wait").build();
    }
    final GroupDescription said = of(seen, answer);
    if (said == null) {
      return copy.setObstacle("a node has not seen the last change; send again").build();
    }
    if (said.getLogEpoch() != 0) {
      copy.setLogEpoch(said.getLogEpoch())
          .setLogPosition(said.getLogPosition())
          .setLogProcess(said.getLogProcess())
          .setWrittenMs(answer.getDataWrittenMs());
    }
    if (said.getWhole() || said.getRole().equals("LEADING")) {
      return copy.setObstacle("a node lives that has all").build();
    }
    if (said.getMayHaveMore()) {
      return copy.setObstacle("a node may have more than it says; end it, or start it again")
          .build();
    }
    if (said.hasUnread()) {
      copy.setUnread(said.getUnread());
      if (!isGivenUp(said.getUnread(), givenUp)) {
        copy.setObstacle(
            "a node cannot read the record of an orderly end; restore the file and start the node"
                + " again, or give it up: file="
                + said.getUnread().getName());
      }
    }
    return copy.build();
  }

  private static boolean isGivenUp(UnreadFile file, Collection<UnreadFile> givenUp) {
    return givenUp.stream()
        .anyMatch(
            each -> each.getNode() == file.getNode() && each.getName().equals(file.getName()));
  }

  /** The holdings of the nodes: first those with a log, the best one in front. */
  List<LostCopy> copies() {
    return copies;
  }

  /**
   * The holding of the node with whose log the group continues; without a log, none has one.
   *
   * @param named the node whose directory an operator has named
   * @throws StatusException if the loss is not accepted; says why
   */
  LostCopy of(long named) throws StatusException {
    LostCopy chosen = null;
    for (final LostCopy copy : copies) {
      if (!copy.getObstacle().isEmpty()) {
        throw refused(copy.getObstacle(), copy.getNode().getAddress());
      }
      chosen = copy.getNode().getNode() == named ? copy : chosen;
    }
    if (chosen == null) {
      throw refused("the node is not announced", Long.toHexString(named));
    }
    if (BEST_FIRST.compare(copies.get(0), chosen) < 0) {
      throw refused("another node has more", copies.get(0).getNode().getAddress());
    }
    return chosen;
  }

  /**
   * The statement of an answer about the group's state as seen; null if it concerns another state.
   */
  private static @Nullable GroupDescription of(GroupState seen, DescribeClusterResponse answer) {
    for (final GroupDescription group : answer.getGroupsList()) {
      if (group.getIndex().equals(seen.getIndex())
          && group.getStateVersion() == seen.getVersion()
          && group.getEpoch() == Recoveries.epoch(seen)) {
        return group;
      }
    }
    return null;
  }

  private StatusException refused(String why, String node) {
    return Status.FAILED_PRECONDITION
        .withDescription(why + ": index=" + seen.getIndex() + " node=" + node)
        .asException();
  }
}
