package dev.ringfetch.index.replication;

import dev.ringfetch.index.v1.LeaderMessage;
import dev.ringfetch.index.v1.MemberMessage;
import dev.ringfetch.index.v1.Node;

/** Peers that take every message, and to which nothing happens. */
interface IdlePeers extends Peers {
  @Override
  default void connect(Node node) {}

  @Override
  default void disconnect(long node) {}

  @Override
  default boolean send(long node, LeaderMessage message) {
    return true;
  }

  @Override
  default void answer(long leader, MemberMessage message) {}
}
