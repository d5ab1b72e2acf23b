package dev.ringfetch.index.client;

import io.grpc.Status;

/**
 * The failure of an operation whose server is not there: it does not run, the connection broke, or
 * the client was closed meanwhile. Another try later may succeed. Its status is UNAVAILABLE.
 */
public final class UnavailableException extends IndexException {
  private static final long serialVersionUID = 1;

  UnavailableException(Subject subject, Status status, boolean outcomeUnknown) {
    super(subject, status, outcomeUnknown);
  }
}
