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
   * @param route the way that it took, {@link Access#RPC} or {@link Access#DIRECT}: a read of
   *     memory counts as {@link Access#RPC} if a call has answered it, or a part of it.
   * @param code how it ended.
   * @param durationNs how long it took, in nanoseconds.
   */
  void onEnd(Operation operation, String index, Access route, Status.Code code, long durationNs);

  /**
   * Called when the reads of {@link Access#ADAPTIVE} views go directly in another share than
   * before.
   *
   * @param most entries of these reads: 1, 10, 100, or {@link Integer#MAX_VALUE}.
   * @param eighths that go directly from now on.
   * @param probes reads that have gone the other way so far, where the share was 0 or 8.
   */
  default void onShare(String index, int most, int eighths, long probes) {}
}
