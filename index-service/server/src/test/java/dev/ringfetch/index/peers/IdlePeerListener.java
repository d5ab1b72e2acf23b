package dev.ringfetch.index.peers;

import dev.ringfetch.index.v1.LeaderMessage;
import dev.ringfetch.index.v1.MemberMessage;
import dev.ringfetch.index.v1.Node;
import org.jspecify.annotations.Nullable;

/** A listener that takes all callers for nodes, knows no announcement, and ignores what comes. */
public interface IdlePeerListener extends PeerListener {
  @Override
  default void onConnected(long node) {}

  @Override
  default void onDisconnected(long node) {}

  @Override
  default boolean isNode(Node leader) {
    return true;
  }

  @Override
  default @Nullable Node announced(long node) {
    return null;
  }

  @Override
  default void onLeaderGone(long leader) {}

  @Override
  default Runnable onMessage(long leader, LeaderMessage message) {
    return () -> {};
  }

  @Override
  default void onAnswer(long member, MemberMessage answer) {}
}
