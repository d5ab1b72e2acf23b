package dev.ringfetch.index.peers;

import dev.ringfetch.index.v1.LeaderMessage;
import dev.ringfetch.index.v1.MemberMessage;
import dev.ringfetch.index.v1.Node;

/** Takes what the connections of a node bring, on their threads; it does not wait. */
public interface PeerListener {
  /** This node can send to another, as a leader, from now on. */
  void onConnected(long node);

  /** The connection has ended; or there is none, after a try. */
  void onDisconnected(long node);

  /** Whether a process that calls is a node of the cluster, as far as this one knows. */
  boolean isNode(Node leader);

  /** A leader's connection to this node has ended. */
  void onLeaderGone(long leader);

  /**
   * A leader has sent a message. Called in the order of the messages, also over connections.
   *
   * @return what is run then, in no order: it carries the message out
   */
  Runnable onMessage(long leader, LeaderMessage message);

  /** A node has answered this one. */
  void onAnswer(long member, MemberMessage answer);
}
