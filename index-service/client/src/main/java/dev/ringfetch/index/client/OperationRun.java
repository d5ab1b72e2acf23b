package dev.ringfetch.index.client;

import io.grpc.Status;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * One run of an operation: keeps its deadline, and reports its duration and status at its end. Used
 * by one thread at a time.
 */
final class OperationRun {
  private static final long FIRST_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(10);
  private static final long LONGEST_PAUSE_NS = TimeUnit.SECONDS.toNanos(1);

  private final Subject subject;
  private final long timeoutNs;
  private final ClientMetrics metrics;
  private final long beginNs;
  private long graceNs;
  private long deadlineNs;
  private Access route = Access.RPC;
  private String progress = "";
  private Backoff pauses; // null: none was needed
  private boolean mayBeSent;
  private RouteShare share; // of the turn
  private RouteShare.Turn turn; // null: the route is fixed
  private InFlightLimit permit; // that gave one; null: none is taken

  /**
   * Begins.
   *
   * @param timeoutNs how long a call may take, in nanoseconds.
   * @param graceNs what a call may take in addition, until {@link #endGrace}.
   */
  OperationRun(Subject subject, long timeoutNs, long graceNs, ClientMetrics metrics) {
    this.subject = subject;
    this.timeoutNs = timeoutNs;
    this.metrics = metrics;
    this.beginNs = System.nanoTime();
    this.graceNs = graceNs;
    this.deadlineNs = beginNs + timeoutNs + graceNs;
  }

  Subject subject() {
    return subject;
  }

  /** How long a call may take, in nanoseconds. */
  long timeoutNs() {
    return timeoutNs;
  }

  /** Time to the deadline in nanoseconds; negative after it. */
  long leftNs() {
    return deadlineNs - System.nanoTime();
  }

  /** Starts the deadline again: for the next of several calls, or after the client's set-up. */
  void extend() {
    deadlineNs = System.nanoTime() + timeoutNs + graceNs;
    pauses = null;
  }

  /** Ends the grace: later calls have the timeout alone. */
  void endGrace() {
    deadlineNs -= graceNs;
    graceNs = 0;
  }

  /** How long to wait before the next attempt. */
  long pauseNs() {
    if (pauses == null) {
      pauses = new Backoff(FIRST_PAUSE_NS, LONGEST_PAUSE_NS);
    }
    return Math.max(0, Math.min(pauses.nextNs(), leftNs()));
  }

  /** Notes whether the last attempt of a call may have reached a server. */
  void mayBeSent(boolean possible) {
    mayBeSent = possible;
  }

  /** Whether the last attempt of a call may have reached a server. */
  boolean mayBeSent() {
    return mayBeSent;
  }

  boolean hasPermit() {
    return permit != null;
  }

  /** Notes the limit that gave the run a permit. */
  void permitted(InFlightLimit limit) {
    permit = limit;
  }

  /** Gives the permit back, if there is one: other operations may run meanwhile. */
  void releasePermit() {
    if (permit != null) {
      final InFlightLimit limit = permit;
      permit = null;
      limit.release();
    }
  }

  /** Throws if there is a status: the key or the value that it is about is not legal. */
  void check(Status limit) {
    if (limit != null) {
      throw failure(limit, false);
    }
  }

  /** Sets the route, which is RPC unless set. */
  void route(Access route) {
    this.route = route;
  }

  /**
   * Whether the next read of this run goes directly, as a share chooses. {@link #endTurn} or the
   * end of the run tells the share how long it took.
   */
  boolean isDirect(RouteShare choosing) {
    share = choosing;
    turn = choosing.begin(leftNs());
    return turn.isDirect();
  }

  /** The read has its answer. */
  void endTurn() {
    endTurn(true);
  }

  private void endTurn(boolean isAnswered) {
    if (turn != null) {
      share.end(turn, isAnswered);
      turn = null;
    }
  }

  /** Keeps the duration of the run from the share that has chosen its route, if one has. */
  void cancelTurn() {
    if (turn != null) {
      share.cancel(turn);
      turn = null;
    }
  }

  /** Sets what the text of a failure says about the steps before it. */
  void progress(String progress) {
    this.progress = progress;
  }

  /**
   * The exception of a call of this run.
   *
   * @param writing whether the call would have changed something.
   */
  IndexException failure(Status status, boolean writing) {
    return Failures.of(subject, described(status), writing);
  }

  /** The exception of several calls of this run, with the outcome as the caller knows it. */
  IndexException failureOfAll(Status status, boolean outcomeUnknown) {
    return Failures.known(subject, described(status), outcomeUnknown);
  }

  /** The status with the progress of the steps before appended. */
  Status described(Status status) {
    return progress.isEmpty() ? status : status.augmentDescription(progress);
  }

  /** Runs the whole operation, and measures it; for operations that wait for their answers. */
  <T> T measure(Supplier<T> operation) {
    Status.Code code = Status.Code.UNKNOWN;
    try {
      final T result = operation.get();
      code = Status.Code.OK;
      return result;
    } catch (IndexException e) {
      code = e.code();
      throw e;
    } finally {
      end(code);
    }
  }

  /** Gives the permit back, and measures the run. Called once, at its end. */
  void end(Status.Code code) {
    releasePermit();
    endTurn(code == Status.Code.OK);
    metrics.onEnd(subject.operation(), subject.index(), route, code, System.nanoTime() - beginNs);
  }
}
