package dev.ringfetch.index.client;

import io.grpc.Status;

/**
 * The failure of a write that was sent more than once, and whose outcome the server has lost: it
 * was carried out once, or not at all. That happens if the server has lost an index that is kept in
 * memory alone, or the client's number, or if another client has dropped the index. Also the
 * failure of a {@link KeyedIndex#getAndSet} or a transaction that was carried out, if its answer
 * was lost, and has more than the 16 KiB that the server keeps. Its status is FAILED_PRECONDITION.
 */
public final class OutcomeGoneException extends IndexException {
  private static final long serialVersionUID = 1;

  private final long number;

  OutcomeGoneException(Subject subject, Status status, long number) {
    super(subject, status, true);
    this.number = number;
  }

  /** The failure of a write that was carried out, and answers with what is gone. */
  OutcomeGoneException(Subject subject, Status status) {
    super(subject, status, false);
    number = 0;
  }

  /** Number of the write, as the description of the server has it; 0 if that has none. */
  public long number() {
    return number;
  }
}
