package dev.ringfetch.index.client;

import io.grpc.Status;

/**
 * The failure of an operation that did not reach its server: the server does not run, the
 * connection broke, or the client was closed meanwhile. A later attempt may succeed. Its status is
 * UNAVAILABLE.
 */
public final class UnavailableException extends IndexException {
  private static final long serialVersionUID = 1;

  UnavailableException(Subject subject, Status status, boolean outcomeUnknown) {
    super(subject, status, outcomeUnknown);
  }
}
