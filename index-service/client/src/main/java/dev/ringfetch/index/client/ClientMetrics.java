package dev.ringfetch.index.client;

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
   * @param route the way that it took: a read of a {@link Access#DIRECT} view counts as {@link
   *     Access#RPC} if a call has answered it, or a part of it.
   * @param code how it ended.
   * @param durationNs how long it took, in nanoseconds.
   */
  void onEnd(Operation operation, String index, Access route, Status.Code code, long durationNs);
}
