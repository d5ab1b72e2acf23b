package dev.ringfetch.index.replication;

import dev.ringfetch.index.onesided.PeerMemory;
import dev.ringfetch.index.v1.LeaderMessage;
import dev.ringfetch.index.v1.MemberMessage;
import dev.ringfetch.index.v1.Node;

/**
 * The connections of a node to others: messages arrive in the order in which they were sent, or the
 * connection ends, which the replicas are told.
 *
 * <p>No method waits. Used by the owners of all replicas of the node.
 */
public interface Peers {
  /** Connects to a node as a leader, if there is no connection; tries again when it ends. */
  void connect(Node node);

  /** Gives up the connection to a node, which is not needed. */
  void disconnect(long node);

  /**
   * Sends to a node to which this one is connected as a leader.
   *
   * @return false if there is no connection, or it has as much to send as may be
   */
  boolean send(long node, LeaderMessage message);

  /** Answers a leader. What cannot be sent is dropped: the connection has ended. */
  void answer(long leader, MemberMessage message);

  /** The memory by which nodes reach each other beside the connections; none unless there is. */
  default PeerMemory memory() {
    return PeerMemory.NONE;
  }
}
