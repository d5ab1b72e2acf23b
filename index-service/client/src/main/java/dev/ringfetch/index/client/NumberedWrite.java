package dev.ringfetch.index.client;

import dev.ringfetch.index.v1.RequestNumber;
import io.grpc.CallOptions;
import io.grpc.Status;

/**
 * A write with its numbers: decides after each failed attempt how to continue. Used by one thread
 * at a time.
 */
final class NumberedWrite<Q, R> {
  /** The decision after a failed attempt. */
  enum Next {
    /** Another attempt, with the same numbers. */
    REPEAT,
    /** Another attempt, with other numbers: the write was never carried out. */
    RENUMBER,
    /** No attempt: the write has failed. */
    FAIL
  }

  /** Limit of changes of a write's numbers, one for each client that was closed meanwhile. */
  private static final int RENUMBERINGS = 3;

  private final OperationRun run;
  private final Call<Q, R> call;
  private final FailedAttempts failed;

  /** The index, with its present incarnation. */
  private final KnownIndex known;

  /** Incarnation of the index before the first attempt. */
  private long incarnation;

  private ClientWindow.Numbers numbers; // null: none yet, or complete
  private int attempts;
  private int renumberings;
  private long sentNs;

  NumberedWrite(OperationRun run, Call<Q, R> call, KnownIndex known) {
    this.run = run;
    this.call = call;
    this.known = known;
    failed = new FailedAttempts(run, true);
  }

  /** The index that it writes to. */
  KnownIndex known() {
    return known;
  }

  OperationRun run() {
    return run;
  }

  /** How many numbers it needs. */
  int writes() {
    return call.numbering().writes();
  }

  boolean hasNumbers() {
    return numbers != null;
  }

  void take(ClientWindow.Numbers taken) {
    numbers = taken;
  }

  /** The call of the next attempt. */
  Call<Q, R> next() {
    if (attempts++ == 0) {
      incarnation = known.latest();
    }
    sentNs = System.nanoTime();
    return call.numbered(
        RequestNumber.newBuilder()
            .setClient(numbers.window().client())
            .setNumber(numbers.first())
            .setFirstIncomplete(numbers.window().firstIncomplete())
            .setIncarnation(attempts == 1 ? 0 : incarnation)
            .build());
  }

  /** Options of the next attempt; each but the first one waits for the server. */
  CallOptions options() {
    return attempts <= 1 ? CallOptions.DEFAULT : CallOptions.DEFAULT.withWaitForReady();
  }

  /** Processes an answer; returns its failure if the call must be made again, else null. */
  Status answered(R answer) {
    numbers.window().renewed(sentNs);
    final Status failure = call.numbering().failure(answer);
    if (failure != null) {
      failed.done(); // other writes of the batch are
    }
    return failure;
  }

  /** Notes that the last attempt failed. */
  void failedLast(Status status) {
    failed.add(status);
  }

  /** Decides what follows an attempt that failed. */
  Next failed(Status status) {
    final boolean isGone = Failures.isGone(status);
    if (isGone && attempts == 1 && renumberings < RENUMBERINGS) {
      renumberings++;
      return Next.RENUMBER;
    }
    run.endGrace();
    failed.add(status);
    return (Failures.isLost(status) || Failures.isOverloaded(status)) && run.leftNs() > 0
        ? Next.REPEAT
        : Next.FAIL;
  }

  /** Gives up the numbers, which the server does not know, and returns their window. */
  ClientWindow giveUpNumbers() {
    final ClientWindow window = numbers.window();
    attempts = 0;
    end();
    return window;
  }

  /** The failure after the last attempt. */
  IndexException failure() {
    final Status reason = failed.reason();
    return attempts > 1 && Failures.isGone(reason)
        ? new OutcomeGoneException(run.subject(), run.described(reason), numbers.first())
        : failed.failure();
  }

  /** Notes that the write is not sent any more. Idempotent. */
  void end() {
    if (numbers != null) {
      final ClientWindow.Numbers ended = numbers;
      numbers = null;
      ended.complete();
    }
  }
}
