package dev.ringfetch.index.client;

import dev.ringfetch.index.v1.RequestNumber;
import io.grpc.CallOptions;
import io.grpc.Status;

/**
 * A write on its way to its answer: has its numbers, and decides after each attempt that failed
 * what follows. Used by one thread at a time.
 */
final class NumberedWrite<Q, R> {
  /** What follows an attempt. */
  enum Next {
    /** Another one, with the same numbers. */
    REPEAT,
    /** Another one, with other numbers: it was never carried out. */
    RENUMBER,
    /** None: the write has failed. */
    FAIL
  }

  /** How often a write gets other numbers: clients that are closed one after the other. */
  private static final int RENUMBERINGS = 3;

  private final OperationRun run;
  private final Call<Q, R> call;
  private final FailedAttempts failed;

  /** Tells which incarnation the index has. */
  private final KnownIndex known;

  /** That the index had before the first attempt. */
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

  /** Options of the next attempt: but for the first one it waits for the server. */
  CallOptions options() {
    return attempts <= 1 ? CallOptions.DEFAULT : CallOptions.DEFAULT.withWaitForReady();
  }

  /** Takes an answer; returns its failure if the call is to be made again, else null. */
  Status answered(R answer) {
    numbers.window().renewed(sentNs);
    final Status failure = call.numbering().failure(answer);
    if (failure != null) {
      failed.done(); // other writes of the batch are
    }
    return failure;
  }

  /** Notes that an attempt failed that nothing follows. */
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

  /** The window of the numbers that the server does not know; the write has none then. */
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

  /** Notes that nobody sends the write any more. Idempotent. */
  void end() {
    if (numbers != null) {
      final ClientWindow.Numbers ended = numbers;
      numbers = null;
      ended.complete();
    }
  }
}
