package dev.ringfetch.index.client;

import dev.ringfetch.index.v1.StatusTexts;
import io.grpc.Status;
import java.io.IOException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.nio.channels.UnresolvedAddressException;
import javax.net.ssl.SSLHandshakeException;

/** The translation of statuses of calls to exceptions. */
final class Failures {
  /** How gRPC's transports begin the description of a stream that the peer has reset. */
  private static final String RESET = "RST_STREAM closed stream";

  /** Part of gRPC's description of a message that is longer than its receiver accepts. */
  private static final String MESSAGE_TOO_LONG = "exceeds maximum size";

  private Failures() {}

  /**
   * The exception of a call that has ended with this status.
   *
   * @param writing whether the call would have changed something.
   */
  static IndexException of(Subject subject, Status status, boolean writing) {
    return isGone(status)
        ? new OutcomeGoneException(subject, status, 0)
        : known(subject, status, writing && mayBeCarriedOut(status));
  }

  /** Same, if the caller knows whether a write may be carried out. */
  static IndexException known(Subject subject, Status ended, boolean unknown) {
    final Status status = clear(ended);
    return switch (status.getCode()) {
      case DEADLINE_EXCEEDED -> new DeadlineException(subject, status, unknown);
      case UNAVAILABLE -> new UnavailableException(subject, status, unknown);
      case RESOURCE_EXHAUSTED ->
          isOverloaded(status)
              ? new OverloadedException(subject, status, unknown)
              : new FullException(subject, status, unknown);
      default -> new IndexException(subject, status, unknown);
    };
  }

  /**
   * The status with the code that names the cause; transports report some causes by another code.
   */
  static Status clear(Status status) {
    if (isLost(status) && status.getCode() != Status.Code.UNAVAILABLE) {
      return Status.UNAVAILABLE
          .withDescription("the connection to the server ended before its answer came")
          .withCause(status.getCause());
    }
    return isMessageTooLong(status)
        ? Status.INVALID_ARGUMENT
            .withDescription(status.getDescription())
            .withCause(status.getCause())
        : status;
  }

  /** The status of a write that certainly did not reach a server. */
  static Status unsent(Status status) {
    final String description = status.getDescription();
    return status.withDescription(
        (description == null ? "" : description + "; ") + "it was not sent");
  }

  /** Whether a request or an answer was longer than its receiver accepts. */
  static boolean isMessageTooLong(Status status) {
    return status.getDescription() != null
        && status.getDescription().contains(MESSAGE_TOO_LONG)
        && (status.getCode() == Status.Code.RESOURCE_EXHAUSTED
            || status.getCode() == Status.Code.INVALID_ARGUMENT); // as this client calls it
  }

  /** Whether the server did nothing, and the same call may succeed a moment later. */
  static boolean isOverloaded(Status status) {
    return status.getCode() == Status.Code.RESOURCE_EXHAUSTED
        && status.getDescription() != null
        && status.getDescription().startsWith(StatusTexts.OVERLOADED);
  }

  /** The exception of an answer that the client does not understand. */
  static IndexException unexpected(Subject subject, String description, Throwable cause) {
    return new IndexException(
        subject, Status.INTERNAL.withDescription(description).withCause(cause), false);
  }

  /** Whether the server was not reached, or the connection broke: another attempt may succeed. */
  static boolean isLost(Status status) {
    return switch (status.getCode()) {
      case UNAVAILABLE -> true;
      // A status with a cause comes from this side: the connection closed during the call.
      case UNKNOWN -> status.getCause() instanceof IOException;
      // The server has reset the stream, as one that ends at once does; nobody here has cancelled.
      case CANCELLED ->
          status.getDescription() != null && status.getDescription().startsWith(RESET);
      default -> false;
    };
  }

  /** Whether the server has no outcome of a write that it does not carry out. */
  static boolean isGone(Status status) {
    return status.getCode() == Status.Code.FAILED_PRECONDITION
        && status.getDescription() != null
        && status.getDescription().startsWith(StatusTexts.OUTCOME_GONE);
  }

  /** Whether a write may have been carried out although its call has ended with this status. */
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
      default -> true;
    };
  }

  /** Whether the call failed for lack of a connection. */
  static boolean wasNotConnected(Status status) {
    for (Throwable t = status.getCause(); t != null; t = t.getCause()) {
      if (t instanceof ConnectException
          || t instanceof SSLHandshakeException
          || t instanceof UnknownHostException
          || t instanceof UnresolvedAddressException) {
        return true;
      }
    }
    return false;
  }
}
