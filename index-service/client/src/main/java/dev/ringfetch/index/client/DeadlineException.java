package dev.ringfetch.index.client;

import io.grpc.Status;

/**
 * The failure of an operation that took longer than its deadline. Its status is DEADLINE_EXCEEDED.
 */
public final class DeadlineException extends IndexException {
  private static final long serialVersionUID = 1;

  DeadlineException(Subject subject, Status status, boolean outcomeUnknown) {
    super(subject, status, outcomeUnknown);
  }
}
