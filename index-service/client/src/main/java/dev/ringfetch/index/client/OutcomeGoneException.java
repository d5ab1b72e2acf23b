package dev.ringfetch.index.client;

import io.grpc.Status;

/**
 * The failure of a write that was sent more than once, and whose outcome the server does not have
 * any more: it may have been carried out once, or not at all. That happens where the server has
 * lost the index, which is kept in memory alone, or its number of the client, or where another
 * client has dropped the index. Its status is FAILED_PRECONDITION.
 */
public final class OutcomeGoneException extends IndexException {
  private static final long serialVersionUID = 1;

  private final long number;

  OutcomeGoneException(Subject subject, Status status, long number) {
    super(subject, status, true);
    this.number = number;
  }

  /** Number of the write, as the description of the server has it; 0 for one of a batch. */
  public long number() {
    return number;
  }
}
