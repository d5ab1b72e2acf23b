package dev.ringfetch.index.client;

import dev.ringfetch.rpc.Experimental;
import io.grpc.Status;

/**
 * A receiver of a client's measurements; {@link MicrometerMetrics} is the one for Micrometer.
 * Called on the threads of operations by many at a time: it must not block, nor throw.
 */
public interface ClientMetrics {
  /** A receiver that drops everything. */
  ClientMetrics NONE = (operation, index, route, code, durationNs) -> {};

  /**
   * Called at the end of each operation.
   *
   * @param route the way that it took, {@link Access#RPC} or {@link Access#DIRECT}: a read of
   *     memory counts as {@link Access#RPC} if a call has answered it, or a part of it.
   * @param code how it ended.
   * @param durationNs how long it took, in nanoseconds.
   */
  void onEnd(Operation operation, String index, Access route, Status.Code code, long durationNs);

  /**
   * Called after some dozens of reads of a kind by {@link Access#ADAPTIVE} views. Views of an index
   * with different deadlines have shares of their own.
   *
   * @param share of the next reads that goes directly, from 0 to 1.
   * @param probes reads that have gone the other way since the last call, where the share was 0 or
   *     1.
   */
  @Experimental
  default void onShare(String index, ReadKind kind, double share, long probes) {}
}
