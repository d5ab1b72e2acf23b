package dev.ringfetch.index.service;

import io.grpc.MethodDescriptor;
import io.grpc.Status;

/**
 * The receiver of the durations of a server's calls. Called on the threads that end calls, so it
 * must be short; it must not throw.
 */
@FunctionalInterface
interface CallMetrics {
  /** Receives nothing; services do not measure then. */
  CallMetrics NONE = (method, code, durationNs) -> {};

  /**
   * Called at the end of each call of the Index and IndexAdmin services.
   *
   * @param code with which it ended; CANCELLED also if the client went away
   * @param durationNs since the service received the call
   */
  void onEnd(MethodDescriptor<?, ?> method, Status.Code code, long durationNs);
}
