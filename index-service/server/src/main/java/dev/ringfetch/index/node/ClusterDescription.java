package dev.ringfetch.index.node;

import dev.ringfetch.index.journal.Journal;
import dev.ringfetch.index.journal.SnapshotDescriptor;
import dev.ringfetch.index.journal.StopFiles;
import dev.ringfetch.index.replication.Replica;
import dev.ringfetch.index.replication.ReplicaStatus;
import dev.ringfetch.index.replication.Replicas;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.DescribeClusterResponse;
import dev.ringfetch.index.v1.GroupDescription;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.Member;
import dev.ringfetch.index.v1.MemberDescription;
import dev.ringfetch.index.v1.Node;
import dev.ringfetch.index.v1.NodeDescription;
import dev.ringfetch.index.v1.UnreadFile;
import java.io.IOException;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The description of a cluster, as one node sees it: the nodes that live, the groups with what this
 * node's replicas know of them, and the state of its disk.
 *
 * <p>Safe for use by many threads.
 */
public final class ClusterDescription {
  private final long node;
  private final Replicas replicas;
  private final Supplier<Journal> journal;
  private final StopFiles stops;
  private final long writtenMs;

  /**
   * Creates the description that a node gives.
   *
   * @param journal gives null where the node has no directory
   * @param stops what earlier processes have left; null: the node has no directory
   * @param writtenMs when the directory was written before this process, since 1970; 0: never
   */
  public ClusterDescription(
      long node,
      Replicas replicas,
      Supplier<@Nullable Journal> journal,
      @Nullable StopFiles stops,
      long writtenMs) {
    this.node = node;
    this.replicas = replicas;
    this.journal = journal;
    this.stops = stops;
    this.writtenMs = writtenMs;
  }

  /** As {@link IndexCatalog#describe}. */
  public DescribeClusterResponse describe() {
    final DescribeClusterResponse.Builder response =
        DescribeClusterResponse.newBuilder()
            .setNode(node)
            .setAcceptsLosses(true)
            .setDataWrittenMs(writtenMs)
            .setCoordinatorReached(replicas.isCoordinated());
    describeDisk(response);
    replicas.living().values().stream()
        .sorted(Comparator.comparing(Node::getAddress))
        .forEach(
            one ->
                response.addNodes(
                    NodeDescription.newBuilder()
                        .setNode(one.getId())
                        .setAddress(one.getAddress())));
    replicas.states().stream()
        .sorted(Comparator.comparing(GroupState::getIndex))
        .forEach(group -> response.addGroups(describe(group)));
    return response.build();
  }

  private void describeDisk(DescribeClusterResponse.Builder response) {
    final Journal opened = journal.get();
    if (opened == null) {
      return;
    }
    final IOException failure = opened.failure();
    final IOException obstacle = failure == null ? opened.obstacle() : failure;
    if (obstacle != null) {
      response
          .setDiskObstacle(String.valueOf(obstacle.getMessage()))
          .setDiskObstacleMs(opened.obstacleNs() / 1_000_000);
    }
  }

  private static void describe(ReplicaStatus status, GroupDescription.Builder description) {
    final ReplicaStatus.Log log = status.log();
    final boolean isLate =
        status.group() == null || status.group().getVersion() != description.getStateVersion();
    if (log.epoch() != 0) {
      description
          .setLogEpoch(log.epoch())
          .setLogEnd(status.end())
          .setLogPosition(log.position())
          .setLogProcess(log.process());
    }
    description
        .setWhole(log.isWhole())
        .setMayHaveMore(log.mayHaveMore() || isLate)
        .setLost(description.getLost() && !log.isWhole());
  }

  private GroupDescription describe(GroupState group) {
    final Configuration newest = group.hasWon() ? group.getWon() : group.getEstablished();
    final GroupDescription.Builder description =
        GroupDescription.newBuilder()
            .setIndex(group.getIndex())
            .setEpoch(newest.getEpoch())
            .setLeader(newest.getLeader())
            .setEstablished(!group.hasWon())
            .setReplicas(group.getReplicas())
            .setStateVersion(group.getVersion())
            .setLost(LostGroups.survivor(group, replicas.living()) == null);
    final String reason = stops == null ? null : stops.unread().get(group.getGroup());
    if (reason != null) {
      description.setUnread(
          UnreadFile.newBuilder()
              .setNode(node)
              .setName(SnapshotDescriptor.stopName(group.getGroup()))
              .setReason(reason));
    }
    final Replica replica = replicas.find(group.getGroup());
    final ReplicaStatus status = replica == null ? null : replica.status();
    final Map<Long, ReplicaStatus.MemberLag> lags = new HashMap<>();
    if (status != null) {
      description.setRole(status.state().name()).setCommit(status.commit());
      describe(status, description);
      for (final ReplicaStatus.MemberLag member : status.members()) {
        lags.put(member.node(), member);
      }
    }
    for (final Member member : newest.getMembersList()) {
      final MemberDescription.Builder one =
          MemberDescription.newBuilder().setNode(member.getNode());
      final ReplicaStatus.MemberLag lag = lags.get(member.getNode());
      if (lag != null) {
        one.setLag(Math.max(0, status.end() - lag.received())).setReplicatedBy(lag.replicatedBy());
      }
      description.addMembers(one);
    }
    return description.build();
  }
}
