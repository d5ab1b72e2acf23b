package dev.ringfetch.index.client;

import io.grpc.Status;

/**
 * The failure of an append of which the server has refused a record, for lack of memory for
 * example: the records before it are appended, and it and those behind it are not, unless {@link
 * #isOutcomeUnknown}: then they may be.
 */
public final class AppendException extends IndexException {
  private static final long serialVersionUID = 1;

  private final transient Appended appended; // null after deserialization

  AppendException(Subject subject, Status status, Appended appended) {
    super(subject, status, Failures.mayBeCarriedOut(status));
    this.appended = appended;
  }

  /** The records that are appended: the first ones of the call. */
  public Appended appended() {
    return appended == null ? Appended.NONE : appended;
  }
}
