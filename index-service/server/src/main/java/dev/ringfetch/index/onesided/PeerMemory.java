package dev.ringfetch.index.onesided;

import dev.ringfetch.index.v1.FabricHint;
import dev.ringfetch.index.v1.LogOffer;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The memory by which nodes reach each other beside their connections: where a fabric connects
 * them, a leader places records in a member's memory, and looks at its gate, without the member.
 *
 * <p>No method waits for another node. Used by the owners of all replicas of the node.
 */
public interface PeerMemory {
  /** No memory: all goes by messages. */
  PeerMemory NONE =
      new PeerMemory() {
        @Override
        public List<FabricHint> hints() {
          return List.of();
        }

        @Override
        public MemberMemory open() {
          return null;
        }

        @Override
        public CompletableFuture<RemoteLog> connect(LogOffer offer) {
          return CompletableFuture.failedFuture(
              new IOException("no memory is shared between nodes"));
        }
      };

  /** The fabrics over which this node, as a leader, reaches memory of others. */
  List<FabricHint> hints();

  /** Opens memory for one replica, with a gate of its own; null if there is none. */
  @Nullable MemberMemory open();

  /**
   * Reaches the log memory of a member, at once or later. A future that is cancelled before leaves
   * nothing behind.
   *
   * @param offer as the member sent it, not verified
   * @return fails with an {@link IOException} if it cannot be reached, with the reason as its
   *     message
   */
  CompletableFuture<RemoteLog> connect(LogOffer offer);
}
