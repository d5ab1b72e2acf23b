package dev.ringfetch.index.client;

import dev.ringfetch.index.v1.Trailers;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * The calls of a client: each has a deadline, and ends in an answer or an {@link IndexException}.
 *
 * <p>A call that changes nothing is repeated until its deadline if the server is not reached or is
 * lost: at once, then after growing pauses. So are a call that an overloaded server refused, and a
 * write that was not sent. {@link RepeatedWrites} repeats other writes. Safe for use by many
 * threads; has no thread of its own.
 */
final class IndexCalls {
  private enum State {
    OPEN,
    CLOSED
  }

  /**
   * Calls with less time left than this get a {@link SentMark}, which tells whether they were sent.
   * Others go without: connections carry unmarked calls a little faster.
   */
  private static final long MARKED_BELOW_NS = TimeUnit.MILLISECONDS.toNanos(1);

  /** The channel to the server; to all nodes once a node of a cluster has named another one. */
  private volatile Channel channel;

  private final LeaderChannel cluster; // null: the channel is the caller's
  private final ClientMetrics metrics;
  private final ClientThreads threads;
  private final InFlightLimit inFlight;
  private final long graceNs;
  private final Set<ClientCall<?, ?>> streams = ConcurrentHashMap.newKeySet();
  private volatile State state = State.OPEN;
  private volatile boolean answered; // some call was
  private final ConnectionState connection;

  /**
   * Creates it.
   *
   * @param channel to the server
   * @param cluster the channel to nodes of a cluster that the server may belong to; null if there
   *     is none
   * @param connection notes whether the server is reached
   * @param inFlight the limit of operations that are under way
   * @param graceNs additional time of calls until the first one is answered, in nanoseconds.
   */
  IndexCalls(
      Channel channel,
      LeaderChannel cluster,
      ClientMetrics metrics,
      ClientThreads threads,
      ConnectionState connection,
      InFlightLimit inFlight,
      long graceNs) {
    this.channel = channel;
    this.cluster = cluster;
    this.metrics = metrics;
    this.threads = threads;
    this.connection = connection;
    this.inFlight = inFlight;
    this.graceNs = graceNs;
  }

  ClientThreads threads() {
    return threads;
  }

  /** Begins an operation. */
  OperationRun begin(Subject subject, long timeoutNs) {
    if (state == State.CLOSED) {
      throw new IllegalStateException("the client is closed: " + subject);
    }
    return new OperationRun(subject, timeoutNs, answered ? 0 : graceNs, metrics);
  }

  /**
   * Takes the permit of an operation: waits for it on a thread of the application.
   *
   * @throws OverloadedException if there is none in time
   */
  void admit(OperationRun run) {
    inFlight.take(run);
  }

  /** Makes a call and waits for its answer. */
  <Q, R> R call(OperationRun run, Call<Q, R> call) {
    final FailedAttempts failed = new FailedAttempts(run, !call.repeatable());
    while (true) {
      final Status status;
      try {
        return attempt(run, call, options(call, failed));
      } catch (StatusRuntimeException e) {
        status = e.getStatus();
      }
      final boolean pauses = !failed.isEmpty() || Failures.isOverloaded(status);
      failed.add(status);
      if (!isRepeated(run, call, status)) {
        throw failed.failure();
      }
      if (pauses) {
        pause(run);
      }
    }
  }

  /**
   * Options of an attempt. Each attempt but the first one waits for the server if the call may be
   * made twice. A channel to a cluster sends an attempt that waits to one node after the other.
   */
  private static CallOptions options(Call<?, ?> call, FailedAttempts failed) {
    return failed.isEmpty() || !call.repeatable()
        ? CallOptions.DEFAULT
        : CallOptions.DEFAULT.withWaitForReady();
  }

  /** Waits between two attempts, less long if the thread is interrupted. */
  void pause(OperationRun run) {
    final long endNs = System.nanoTime() + run.pauseNs();
    long leftNs = endNs - System.nanoTime();
    while (leftNs > 0 && !Thread.currentThread().isInterrupted()) {
      LockSupport.parkNanos(this, leftNs);
      leftNs = endNs - System.nanoTime();
    }
  }

  /** Makes a call once, and waits for its answer. */
  <Q, R> R attempt(OperationRun run, Call<Q, R> call, CallOptions options) {
    inFlight.take(run);
    run.mayBeSent(true);
    final Status obstacle = obstacle(run, call);
    if (obstacle != null) {
      throw obstacle.asRuntimeException();
    }
    final SentMark mark = mark(run, call, options);
    final R answer;
    try {
      answer = attempt(call, before(run, options, mark));
    } catch (StatusRuntimeException e) {
      failed(run, mark, e.getStatus());
      throw e;
    }
    onAnswer(run);
    return answer;
  }

  /** The reason why a call cannot be sent; null if it can. */
  private static Status obstacle(OperationRun run, Call<?, ?> call) {
    final Status obstacle =
        run.leftNs() > 0
            ? EntryLimits.ofRequest(call.request())
            : Status.DEADLINE_EXCEEDED.withDescription("the deadline has passed");
    if (obstacle != null) {
      run.mayBeSent(false);
    }
    return obstacle;
  }

  /**
   * The mark of a write that may find no connection, or that waits for ready; null for other calls.
   * A write that waits may be sent to several nodes of a cluster, and has the status of the last
   * one.
   */
  private SentMark mark(OperationRun run, Call<?, ?> call, CallOptions options) {
    final boolean isMarked =
        !call.repeatable()
            && (!connection.isConnected()
                || options.isWaitForReady()
                || run.leftNs() < MARKED_BELOW_NS);
    return isMarked ? new SentMark() : null;
  }

  /** Notes the end of an attempt, and whether it may have been sent. */
  private void failed(OperationRun run, SentMark mark, Status status) {
    if (Failures.isLost(status) || status.getCode() == Status.Code.DEADLINE_EXCEEDED) {
      connection.lost(status);
    }
    run.mayBeSent(mark == null ? !Failures.wasNotConnected(status) : mark.mayBeSent());
  }

  /** Makes a call once and waits for its answer. The options have a deadline. */
  <Q, R> R attempt(Call<Q, R> call, CallOptions options) {
    final Channel used = channel;
    try {
      return ClientCalls.blockingUnaryCall(used, call.method(), options, call.request());
    } catch (StatusRuntimeException e) {
      if (!follows(used, e.getTrailers())) {
        throw e;
      }
      return ClientCalls.blockingUnaryCall(channel, call.method(), options, call.request());
    }
  }

  /**
   * True if the server refused a call because it is a node of a cluster that does not lead the
   * index. This call and all later ones then go over the channel to the leaders.
   */
  private boolean follows(Channel used, Metadata trailers) {
    if (cluster == null || used == cluster || trailers == null) {
      return false;
    }
    final boolean refused = trailers.containsKey(Trailers.LEADER);
    if (refused) {
      channel = cluster;
    }
    return refused;
  }

  /** Ends the grace at the first answer: from now on the operation has the usual deadline. */
  private void onAnswer(OperationRun run) {
    if (!answered) {
      run.endGrace();
      run.extend();
    }
    if (!connection.isConnected()) {
      answered = true;
      connection.answered();
    }
  }

  private static CallOptions before(OperationRun run, CallOptions options, SentMark mark) {
    final CallOptions limited = options.withDeadlineAfter(run.leftNs(), TimeUnit.NANOSECONDS);
    return mark == null ? limited : limited.withStreamTracerFactory(mark);
  }

  /** Whether a call is made again. The grace covers connecting, not a missing server. */
  private boolean isRepeated(OperationRun run, Call<?, ?> call, Status status) {
    run.endGrace();
    final boolean isSafe = call.repeatable() || !run.mayBeSent();
    return ((isSafe && Failures.isLost(status)) || Failures.isOverloaded(status))
        && state == State.OPEN
        && run.leftNs() > 0;
  }

  /**
   * Makes a call and returns at once.
   *
   * @param future fails if the call fails or onAnswer throws. Once it is done, nothing more is sent
   *     for it.
   * @param onAnswer receives the answer on a thread of the channel; completes the future, or makes
   *     the next call.
   */
  <Q, R> void send(CallFuture<?> future, Call<Q, R> call, Consumer<R> onAnswer) {
    send(future, call, onAnswer, future::fail);
  }

  /** Same; reports the failure to onFailure instead of to the future. */
  <Q, R> void send(
      CallFuture<?> future,
      Call<Q, R> call,
      Consumer<R> onAnswer,
      Consumer<IndexException> onFailure) {
    send(
        future,
        call,
        new Continuation<>(onAnswer, onFailure),
        new FailedAttempts(future.run(), !call.repeatable()));
  }

  /** The continuations of a call: one for its answer, one for its failure. */
  private record Continuation<R>(Consumer<R> onAnswer, Consumer<IndexException> onFailure) {}

  private <Q, R> void send(
      CallFuture<?> future, Call<Q, R> call, Continuation<R> then, FailedAttempts failed) {
    final OperationRun run = future.run();
    if (future.isAbandoned()) { // what waits for this call, too, learns of its end
      then.onFailure.accept(
          run.failure(Status.CANCELLED.withDescription("the future has ended"), false));
      return;
    }
    start(
        future,
        call,
        options(call, failed),
        then.onAnswer,
        status -> {
          final boolean pauses = !failed.isEmpty() || Failures.isOverloaded(status);
          failed.add(status);
          if (future.isDone() || !isRepeated(run, call, status)) {
            then.onFailure.accept(failed.failure());
          } else if (pauses) {
            later(future, () -> send(future, call, then, failed));
          } else {
            send(future, call, then, failed);
          }
        });
  }

  /** Runs the next step of an operation after a pause. */
  void later(CallFuture<?> future, Runnable step) {
    threads.after(future.run().pauseNs(), () -> resume(future, step));
  }

  /** Runs a step that may end the future, on a thread for the application's code. */
  void resume(CallFuture<?> future, Runnable step) {
    threads.run(() -> callBack(future, step));
  }

  /**
   * Makes a call once, and returns at once.
   *
   * @param future fails if a callback throws; cancelling it cancels the call.
   */
  <Q, R> void start(
      CallFuture<?> future,
      Call<Q, R> call,
      CallOptions options,
      Consumer<R> onAnswer,
      Consumer<Status> onFailure) {
    final OperationRun run = future.run();
    run.mayBeSent(true);
    final Status obstacle = obstacle(run, call);
    if (obstacle != null) {
      onFailure.accept(obstacle);
      return;
    }
    final SentMark mark = mark(run, call, options);
    final Channel used = channel;
    final ClientCall<Q, R> next = used.newCall(call.method(), before(run, options, mark));
    final StreamObserver<R> observer =
        new StreamObserver<>() {
          private R answer;

          @Override
          public void onNext(R response) {
            answer = response;
          }

          @Override
          public void onError(Throwable failure) {
            if (!future.isDone() && follows(used, Status.trailersFromThrowable(failure))) {
              callBack(future, () -> start(future, call, options, onAnswer, onFailure));
            } else {
              final Status status = Status.fromThrowable(failure);
              failed(run, mark, status);
              callBack(future, () -> onFailure.accept(status));
            }
          }

          @Override
          public void onCompleted() {
            onAnswer(future.run());
            callBack(future, () -> onAnswer.accept(answer));
          }
        };
    ClientCalls.asyncUnaryCall(next, call.request(), observer);
    future.follow(next);
  }

  /** Learns the nodes of the cluster; if there are any, the server is one of them. */
  void learn(List<String> nodes) {
    if (cluster != null && !nodes.isEmpty()) {
      cluster.nodes().learn(String.join(",", nodes));
      channel = cluster;
    }
  }

  /** Runs a step of an operation on a thread of the client; its exception fails the future. */
  static void callBack(CallFuture<?> future, Runnable step) {
    InFlightLimit.callBack(() -> proceed(future, step));
  }

  /** Runs a step of an operation; its exception fails the future. */
  static void proceed(CallFuture<?> future, Runnable step) {
    try {
      step.run();
    } catch (RuntimeException | Error e) { // of the application's function, for example
      future.fail(e);
    }
  }

  /**
   * Creates a call of a streaming method. The caller starts it, and calls {@link #leave} at its
   * end. Closing the client cancels it.
   */
  <Q, R> ClientCall<Q, R> newStream(Call<Q, R> call, CallOptions options) {
    final Channel used = cluster == null ? channel : cluster; // it has the same connections
    final ClientCall<Q, R> stream = used.newCall(call.method(), options);
    streams.add(stream);
    return stream;
  }

  /** Forgets a stream, which has ended. */
  void leave(ClientCall<?, ?> stream) {
    streams.remove(stream);
  }

  boolean isClosed() {
    return state == State.CLOSED;
  }

  /** Refuses further operations, and cancels the streams. Idempotent. */
  void close() {
    state = State.CLOSED;
    for (final ClientCall<?, ?> stream : streams) {
      stream.cancel("the client was closed", null);
    }
    streams.clear();
  }
}
