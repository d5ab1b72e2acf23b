package dev.ringfetch.index.peers;

import dev.ringfetch.index.v1.LeaderMessage;
import dev.ringfetch.index.v1.MemberMessage;
import dev.ringfetch.index.v1.Node;
import org.jspecify.annotations.Nullable;

/** A listener of the connections of a node, called on their threads; it must not wait. */
public interface PeerListener {
  /** Called when this node, as a leader, can send to another node. */
  void onConnected(long node);

  /** Called when the connection has ended, or an attempt to connect has failed. */
  void onDisconnected(long node);

  /** Whether a calling process is a node of the cluster, as far as this node knows. */
  boolean isNode(Node leader);

  /** A node as the coordinator announces it; null if it does not. */
  @Nullable Node announced(long node);

  /** Called when a leader's connection to this node has ended. */
  void onLeaderGone(long leader);

  /**
   * Called with a leader's message, in the order of the messages, also across connections.
   *
   * @return a task that processes the message; tasks may run in any order
   */
  Runnable onMessage(long leader, LeaderMessage message);

  /** Called with the answer of a member to this node. */
  void onAnswer(long member, MemberMessage answer);
}
