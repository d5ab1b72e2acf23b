package dev.ringfetch.index.client;

import com.google.protobuf.ByteString;
import io.grpc.Status;
import java.util.Map;

/**
 * The failure of an operation on an index. Its text names operation, index, key, status, and the
 * description of the server, which says which limit was reached. Absence and a lost comparison are
 * answers, not failures.
 *
 * <p>Subclasses exist for failures that callers handle differently.
 */
public class IndexException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final Operation operation;
  private final String index;
  private final String key;
  private final Status.Code code;
  private final String description;
  private final boolean outcomeUnknown;
  private final boolean lost;
  private final boolean messageTooLong;
  private transient Map<ByteString, Status> refusals = Map.of(); // null after deserialization

  IndexException(Subject subject, Status status, boolean outcomeUnknown) {
    super(text(subject, status, outcomeUnknown), status.getCause());
    this.operation = subject.operation();
    this.index = subject.index();
    this.key = subject.key() == null ? "" : KeyText.of(subject.key());
    this.code = status.getCode();
    this.description = status.getDescription() == null ? "" : status.getDescription();
    this.outcomeUnknown = outcomeUnknown;
    this.lost = Failures.isLost(status);
    this.messageTooLong = Failures.isMessageTooLong(status);
  }

  private static String text(Subject subject, Status status, boolean outcomeUnknown) {
    final StringBuilder text = new StringBuilder().append(subject);
    text.append(" status=").append(status.getCode());
    if (status.getDescription() != null) {
      text.append(": ").append(status.getDescription());
    }
    if (status.getCause() != null && status.getCause().getMessage() != null) {
      text.append(": ").append(status.getCause().getMessage());
    }
    if (outcomeUnknown) {
      text.append("; the outcome is unknown: it was carried out or not");
    }
    return text.toString();
  }

  /** The operation that failed. */
  public Operation operation() {
    return operation;
  }

  /** Name of the index. */
  public String index() {
    return index;
  }

  /**
   * The encoded key in quotes, escaped, with at most 64 of its bytes; empty where the operation was
   * about several keys, or none.
   */
  public String key() {
    return key;
  }

  /** The status code of gRPC. */
  public Status.Code code() {
    return code;
  }

  /** The description given by the server or the transport; may be empty. */
  public String description() {
    return description;
  }

  /** Whether a transport refused the request or the answer, as a message that is too long. */
  boolean isMessageTooLong() {
    return messageTooLong;
  }

  /** Whether the server was not reached, or the connection broke. */
  boolean isLost() {
    return lost;
  }

  /**
   * True if the operation is a write that may have been carried out. False if it certainly was not,
   * or changes nothing.
   */
  public boolean isOutcomeUnknown() {
    return outcomeUnknown;
  }

  /** Sets the entries of a {@code putAll} that the server refused. */
  IndexException withRefusals(Map<ByteString, Status> refused) {
    refusals = Map.copyOf(refused);
    return this;
  }

  /**
   * The encoded keys of the entries that the server refused one by one, with their statuses: those
   * of a {@code putAll} that wrote all others. Empty for any other failure.
   */
  public Map<ByteString, Status> refusals() {
    return refusals == null ? Map.of() : refusals;
  }
}
