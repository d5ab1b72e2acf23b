package dev.ringfetch.index.service;

import io.grpc.BindableService;
import java.util.List;
import java.util.function.Consumer;

/**
 * A server's membership in a cluster, from its start to its end. A server alone has {@link #NONE},
 * which does nothing.
 *
 * <p>Safe for use by many threads.
 */
public interface ClusterMembership extends AutoCloseable {
  /** The membership of a server that belongs to no cluster. */
  ClusterMembership NONE = new ClusterMembership() {};

  /**
   * The services by which other nodes reach this one; to be added to a server that takes messages
   * of 2 MiB.
   */
  default List<BindableService> services() {
    return List.of();
  }

  /**
   * Takes part in the cluster from now on. Called once, when the indexes serve: clients of an
   * earlier process on the data directory have turned away then.
   *
   * @param address at which other nodes and clients reach the server: host and port
   * @param onReached is run once, when the node has read what the coordinator has; until then it
   *     knows of no index
   * @param refused receives, on the node's thread, the reason if this process cannot take part: its
   *     directory belongs to another cluster, or another process lives on it, or on a copy of it
   * @throws IllegalArgumentException if no channel can be made to the address
   * @throws IllegalStateException if the indexes do not serve yet
   */
  default void start(String address, Runnable onReached, Consumer<String> refused) {
    onReached.run();
  }

  /**
   * Begins to end in order: members that go on lead what this node has led, and clients are sent to
   * them. Waits until they do, for two seconds at most. Others are told no more that this node
   * lives. Once.
   */
  default void handOver() {}

  /**
   * Ends in order: hands over, unless that was done, and leaves the cluster. What the node has of
   * indexes at level memory stands in its data directory then, if it has one, for the next process.
   * Waits for the disk, and returns early where the caller is interrupted: what is not written then
   * is left out.
   *
   * @param unsaved is told, on the caller's thread or the node's, of each index that is left out,
   *     and why
   */
  default void stop(Consumer<String> unsaved) {}

  /** Leaves the cluster: leads nothing any more. Calls may be under way. Idempotent. */
  @Override
  default void close() {}
}
