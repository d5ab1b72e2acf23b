package dev.ringfetch.index.peers;

import dev.ringfetch.index.replication.Replicas;
import dev.ringfetch.index.v1.LeaderMessage;
import dev.ringfetch.index.v1.MemberMessage;
import dev.ringfetch.index.v1.Node;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The arrivals at a node's replicas: brings them what other nodes send.
 *
 * <p>Safe for use by many threads.
 */
public final class ReplicaArrivals implements PeerListener {
  private final Supplier<Replicas> replicas;

  /**
   * Creates it.
   *
   * @param replicas gives them, once something comes
   */
  public ReplicaArrivals(Supplier<Replicas> replicas) {
    this.replicas = replicas;
  }

  @Override
  public void onConnected(long node) {
    replicas.get().onConnected(node);
  }

  @Override
  public void onDisconnected(long node) {
    replicas.get().onDisconnected(node);
  }

  @Override
  public boolean isNode(Node leader) {
    return replicas.get().isNode(leader);
  }

  @Override
  public @Nullable Node announced(long node) {
    return replicas.get().living().get(node);
  }

  @Override
  public void onLeaderGone(long leader) {
    replicas.get().onLeaderGone(leader);
  }

  @Override
  public Runnable onMessage(long leader, LeaderMessage message) {
    return replicas.get().onMessage(leader, message);
  }

  @Override
  public void onAnswer(long member, MemberMessage answer) {
    replicas.get().onAnswer(member, answer);
  }
}
