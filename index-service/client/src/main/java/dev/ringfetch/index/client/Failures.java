package dev.ringfetch.index.client;

import io.grpc.Status;
import java.io.IOException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.nio.channels.UnresolvedAddressException;

/** The exceptions that statuses of calls become. */
final class Failures {
  /** How the description begins, by which the server says that an outcome is gone. */
  private static final String GONE = "outcome is gone";

  private Failures() {}

  /**
   * The exception of a call that has ended so.
   *
   * @param writing whether the call would have changed something.
   */
  static IndexException of(Subject subject, Status status, boolean writing) {
    return isGone(status)
        ? new OutcomeGoneException(subject, status, 0)
        : known(subject, status, writing && mayBeCarriedOut(status));
  }

  /** The exception of such a status, where it is known whether a write may be carried out. */
  static IndexException known(Subject subject, Status status, boolean unknown) {
    return switch (status.getCode()) {
      case DEADLINE_EXCEEDED -> new DeadlineException(subject, status, unknown);
      case UNAVAILABLE -> new UnavailableException(subject, status, unknown);
      case RESOURCE_EXHAUSTED -> new FullException(subject, status, unknown);
      default -> new IndexException(subject, status, unknown);
    };
  }

  /** The exception of an answer that the client does not understand. */
  static IndexException unexpected(Subject subject, String description, Throwable cause) {
    return new IndexException(
        subject, Status.INTERNAL.withDescription(description).withCause(cause), false);
  }

  /** Whether the server is not there, or the connection broke: another attempt may succeed. */
  static boolean isLost(Status status) {
    return switch (status.getCode()) {
      case UNAVAILABLE -> true;
      // A status with a cause is of this side: of a connection that closed under the call.
      case UNKNOWN -> status.getCause() instanceof IOException;
      default -> false;
    };
  }

  /** Whether the server has no outcome of a write that it does not carry out. */
  static boolean isGone(Status status) {
    return status.getCode() == Status.Code.FAILED_PRECONDITION
        && status.getDescription() != null
        && status.getDescription().startsWith(GONE);
  }

  /** Whether a write may have been carried out although its call has ended so. */
  static boolean mayBeCarriedOut(Status status) {
    return switch (status.getCode()) {
      case INVALID_ARGUMENT,
          NOT_FOUND,
          ALREADY_EXISTS,
          PERMISSION_DENIED,
          UNAUTHENTICATED,
          RESOURCE_EXHAUSTED,
          FAILED_PRECONDITION,
          ABORTED,
          OUT_OF_RANGE,
          UNIMPLEMENTED ->
          false;
      default -> !wasNotConnected(status.getCause());
    };
  }

  /** Whether there was no connection that the call could have gone over. */
  private static boolean wasNotConnected(Throwable cause) {
    for (Throwable t = cause; t != null; t = t.getCause()) {
      if (t instanceof ConnectException
          || t instanceof UnknownHostException
          || t instanceof UnresolvedAddressException) {
        return true;
      }
    }
    return false;
  }
}
