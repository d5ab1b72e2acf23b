package dev.ringfetch.index.replication;

import dev.ringfetch.index.coordinator.Coordinator;
import java.util.Collection;

/**
 * The requests of a node's replicas to its thread: cycles that are due, proposals, looks at gates,
 * connections to other nodes, and records of stops that are void.
 *
 * <p>The node's thread only.
 */
final class ReplicaRequests {
  private final Collection<Replica> replicas;
  private final Coordinator coordinator;
  private final StopRecordRemoval stopRecords;
  private final PeerConnections connections;
  private boolean mayLook; // a replica at a gate

  /**
   * Creates them.
   *
   * @param replicas of the node, at any time
   */
  ReplicaRequests(
      Collection<Replica> replicas,
      Coordinator coordinator,
      StopRecordRemoval stopRecords,
      PeerConnections connections) {
    this.replicas = replicas;
    this.coordinator = coordinator;
    this.stopRecords = stopRecords;
    this.connections = connections;
  }

  /**
   * Carries them out.
   *
   * @param isOneSilent whether a node has become silent, which all replicas are to notice
   * @return number of proposals that were made
   */
  int work(boolean isOneSilent, long nowNs) {
    int done = 0;
    mayLook = false;
    for (final Replica replica : replicas) {
      if (isOneSilent || nowNs - replica.dueNs() >= 0) {
        replica.onDue();
      }
      final Proposal proposal = replica.takeProposal();
      if (proposal != null) {
        done++;
        propose(replica, proposal);
      }
      if (replica.isStopRecordVoid()) {
        stopRecords.remove(replica.group());
      }
      mayLook |= replica.isLooking();
    }
    connections.work(replicas);
    return done;
  }

  private void propose(Replica replica, Proposal proposal) {
    if (proposal.proposed() == null) {
      coordinator.establish(proposal.seen(), replica::onProposed);
    } else {
      coordinator.win(proposal.seen(), proposal.proposed(), replica::onProposed);
    }
  }

  /** As {@link Replicas#look}. */
  boolean look() {
    if (mayLook) {
      mayLook = false;
      for (final Replica replica : replicas) {
        if (replica.isLooking()) {
          replica.drive();
          mayLook |= replica.isLooking();
        }
      }
    }
    return mayLook;
  }
}
