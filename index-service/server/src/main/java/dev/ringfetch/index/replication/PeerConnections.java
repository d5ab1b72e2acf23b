package dev.ringfetch.index.replication;

import dev.ringfetch.index.v1.Node;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

/**
 * The connections of a node as a leader: one to each node to which a replica needs one.
 *
 * <p>The node's thread only.
 */
final class PeerConnections {
  private final Peers peers;
  private final Map<Long, Node> connections = new HashMap<>();

  PeerConnections(Peers peers) {
    this.peers = peers;
  }

  /** Begins those that are needed, and ends those that are not. */
  void work(Collection<Replica> replicas) {
    final Map<Long, Node> wanted = new HashMap<>();
    for (final Replica replica : replicas) {
      wanted.putAll(replica.wanted());
    }
    if (wanted.equals(connections)) {
      return;
    }
    for (final Map.Entry<Long, Node> old : new ArrayList<>(connections.entrySet())) {
      if (!old.getValue().equals(wanted.get(old.getKey()))) {
        connections.remove(old.getKey());
        peers.disconnect(old.getKey());
      }
    }
    for (final Map.Entry<Long, Node> one : wanted.entrySet()) {
      if (connections.putIfAbsent(one.getKey(), one.getValue()) == null) {
        peers.connect(one.getValue());
      }
    }
  }
}
