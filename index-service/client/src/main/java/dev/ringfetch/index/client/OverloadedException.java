package dev.ringfetch.index.client;

import io.grpc.Status;

/**
 * The failure of an operation that was not carried out because too much is under way: at the
 * client, whose limit is {@link IndexClientBuilder#maxInFlight}, or at the server, until the
 * deadline. The same operation may succeed a moment later. Its status is RESOURCE_EXHAUSTED.
 *
 * <p>A blocking operation fails so, and a future of an asynchronous one, if it got no turn before
 * its deadline; on a thread of the client, where a callback runs, it fails at once instead of
 * waiting. Of a {@code putAll}, other entries may have been written: then its outcome is unknown.
 */
public final class OverloadedException extends IndexException {
  private static final long serialVersionUID = 1;

  OverloadedException(Subject subject, Status status, boolean outcomeUnknown) {
    super(subject, status, outcomeUnknown);
  }
}
