package dev.ringfetch.index.client;

import io.grpc.Status;
import java.util.List;

/**
 * The failure of an append of which the server has refused a record, for lack of memory for
 * example: the records before it are appended, and it and those behind it are not.
 */
public final class AppendException extends IndexException {
  private static final long serialVersionUID = 1;

  private final transient List<Long> appended; // null after deserialization

  AppendException(Subject subject, Status status, List<Long> appended) {
    super(subject, status, false);
    this.appended = appended;
  }

  /** The offsets of the records that are appended: the first ones of the call. */
  public List<Long> appended() {
    return appended == null ? List.of() : appended;
  }
}
