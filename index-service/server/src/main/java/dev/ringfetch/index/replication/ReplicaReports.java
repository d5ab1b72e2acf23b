package dev.ringfetch.index.replication;

import dev.ringfetch.index.v1.FailedReplica;
import dev.ringfetch.index.v1.Heartbeat;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The reports between nodes on replicas that do their part in an epoch no more, although their
 * nodes live.
 */
final class ReplicaReports {
  private final Map<Long, Replica> replicas;
  private final ReplicaContext.Limits limits;
  private List<FailedReplica> stuck = List.of();
  private long lookedNs;

  /**
   * Creates them.
   *
   * @param replicas of the node, by their groups
   */
  ReplicaReports(Map<Long, Replica> replicas, ReplicaContext.Limits limits) {
    this.replicas = replicas;
    this.limits = limits;
  }

  /** The replicas of this node whose owners are stuck in a cycle. By the node's thread. */
  List<FailedReplica> stuck(long nowNs) {
    final long sinceNs = nowNs - lookedNs;
    if (sinceNs < limits.nodeHeartbeatNs()) {
      return stuck;
    }
    lookedNs = nowNs;
    stuck = new ArrayList<>();
    for (final Replica replica : replicas.values()) {
      if (replica.isStuck(nowNs, limits.nodeTimeoutNs(), sinceNs > 2 * limits.nodeHeartbeatNs())) {
        stuck.add(
            FailedReplica.newBuilder()
                .setGroup(replica.group())
                .setEpoch(replica.status().gate())
                .build());
      }
    }
    return stuck;
  }

  /** Takes the reports of another node. On any thread. */
  void take(long node, Heartbeat heartbeat) {
    for (final FailedReplica failed : heartbeat.getFailedList()) {
      final Replica replica = replicas.get(failed.getGroup());
      if (replica != null) {
        replica.onReported(node, failed.getEpoch());
      }
    }
  }
}
