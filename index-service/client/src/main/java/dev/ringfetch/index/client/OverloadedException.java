package dev.ringfetch.index.client;

import io.grpc.Status;

/**
 * The failure of an operation whose call was not carried out because too much is under way: at the
 * client, whose limit is {@link IndexClientBuilder#maxInFlight}, or at the server, until the
 * deadline. The same operation may succeed a moment later. Its status is RESOURCE_EXHAUSTED.
 *
 * <p>A blocking operation fails so, and a future of an asynchronous one, if it got no turn before
 * its deadline; on a thread of the client, where a callback runs, it fails at once instead of
 * waiting. A {@code putAll} and a {@code deleteRange} make several calls: the earlier ones may have
 * been carried out, and the text says how many entries they have written or removed. A batch of
 * which the server has written a part has an unknown outcome.
 */
public final class OverloadedException extends IndexException {
  private static final long serialVersionUID = 1;

  OverloadedException(Subject subject, Status status, boolean outcomeUnknown) {
    super(subject, status, outcomeUnknown);
  }
}
