package dev.ringfetch.index.client;

import io.grpc.Status;

/**
 * The failure of an operation whose call was not carried out because too much is under way: at the
 * client, whose limit is {@link IndexClientBuilder#maxInFlight}, or at the server, until the
 * deadline. The same operation may succeed a moment later. Its status is RESOURCE_EXHAUSTED.
 *
 * <p>Operations, blocking or asynchronous, fail with it if they get no permit before their
 * deadline. On a thread of the client, which runs callbacks, they fail at once instead of waiting.
 * A {@code putAll} and a {@code deleteRange} make several calls: the earlier ones may have been
 * carried out, and the text says how many entries they have written or removed. A batch of which
 * the server has written a part has an unknown outcome.
 */
public final class OverloadedException extends IndexException {
  private static final long serialVersionUID = 1;

  OverloadedException(Subject subject, Status status, boolean outcomeUnknown) {
    super(subject, status, outcomeUnknown);
  }
}
