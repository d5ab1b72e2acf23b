package dev.ringfetch.index.client;

import io.grpc.Status;

/**
 * The failed attempts of one call: keeps the status that explains the failure best, and whether an
 * attempt may have been sent or carried out. Used by one thread at a time.
 */
final class FailedAttempts {
  private final OperationRun run;
  private final boolean isWriting;
  private Status reason; // null: no attempt has failed
  private boolean mayBeSent;
  private boolean mayBeDone;

  /**
   * Creates it, without attempts.
   *
   * @param isWriting whether an attempt may change something
   */
  FailedAttempts(OperationRun run, boolean isWriting) {
    this.run = run;
    this.isWriting = isWriting;
  }

  boolean isEmpty() {
    return reason == null;
  }

  /** Notes that a part of the write may have been carried out. */
  void done() {
    mayBeDone = true;
  }

  /**
   * Notes how the last attempt of the run has ended. The status of an attempt that only waited
   * explains less than an earlier one. "Overloaded" means that nothing was done, so it is no reason
   * for a write that another attempt may have carried out.
   */
  void add(Status status) {
    final boolean isDonePerhaps = isWriting && run.mayBeSent() && Failures.mayBeCarriedOut(status);
    mayBeSent |= run.mayBeSent();
    mayBeDone |= isDonePerhaps;
    final boolean saysLess =
        status.getCode() == Status.Code.DEADLINE_EXCEEDED
            || (Failures.isOverloaded(status) && mayBeDone);
    if (reason == null || !saysLess || (Failures.isOverloaded(reason) && isDonePerhaps)) {
      reason = status;
    }
  }

  Status reason() {
    return reason;
  }

  /** The exception of the call; says so if no attempt was sent. */
  IndexException failure() {
    return run.failureOfAll(
        mayBeSent ? reason : Failures.unsent(Failures.clear(reason)), mayBeDone);
  }
}
