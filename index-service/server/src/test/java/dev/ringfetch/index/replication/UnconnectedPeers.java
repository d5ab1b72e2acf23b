package dev.ringfetch.index.replication;

import dev.ringfetch.index.v1.LeaderMessage;
import dev.ringfetch.index.v1.MemberMessage;
import dev.ringfetch.index.v1.Node;

/** Peers to which a replica is not to have a connection, nor to say anything. */
interface UnconnectedPeers extends Peers {
  @Override
  default void connect(Node node) {
    throw new AssertionError();
  }

  @Override
  default void disconnect(long node) {
    throw new AssertionError();
  }

  @Override
  default boolean send(long node, LeaderMessage message) {
    throw new AssertionError();
  }

  @Override
  default void answer(long leader, MemberMessage message) {
    throw new AssertionError();
  }
}
