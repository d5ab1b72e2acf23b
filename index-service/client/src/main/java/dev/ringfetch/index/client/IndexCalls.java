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
import java.util.function.Consumer;

/**
 * The calls of a client: each has a deadline, and ends in an answer or an {@link IndexException}.
 *
 * <p>A call that changes nothing is repeated once if it finds no server or loses it, and waits for
 * the server as long as its deadline lasts. A write is never repeated here: {@link RepeatedWrites}
 * does that. Safe for use by many threads; has no thread of its own.
 */
final class IndexCalls {
  private enum State {
    OPEN,
    CLOSED
  }

  /** The server, or once a node of a cluster has named another one, all of that cluster's. */
  private volatile Channel channel;

  private final LeaderChannel cluster; // null: the channel is the caller's
  private final ClientMetrics metrics;
  private final ClientThreads threads;
  private final long graceNs;
  private final Set<ClientCall<?, ?>> streams = ConcurrentHashMap.newKeySet();
  private volatile State state = State.OPEN;
  private volatile boolean answered; // some call was

  /**
   * Creates it.
   *
   * @param channel to the server
   * @param cluster the channel to nodes of a cluster that the server may belong to; null if there
   *     is none
   * @param graceNs what calls may take in addition until one was answered, in nanoseconds.
   */
  IndexCalls(
      Channel channel,
      LeaderChannel cluster,
      ClientMetrics metrics,
      ClientThreads threads,
      long graceNs) {
    this.channel = channel;
    this.cluster = cluster;
    this.metrics = metrics;
    this.threads = threads;
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

  /** Makes a call and waits for its answer. */
  <Q, R> R call(OperationRun run, Call<Q, R> call) {
    try {
      return attempt(run, call, CallOptions.DEFAULT);
    } catch (StatusRuntimeException e) {
      final Status first = e.getStatus();
      if (!isRepeated(run, call, first)) {
        throw run.failure(first, !call.repeatable());
      }
      try {
        return attempt(run, call, CallOptions.DEFAULT.withWaitForReady());
      } catch (StatusRuntimeException again) {
        throw run.failure(clearer(first, again.getStatus()), !call.repeatable());
      }
    }
  }

  /** Makes a call once, and waits for its answer. */
  <Q, R> R attempt(OperationRun run, Call<Q, R> call, CallOptions options) {
    final R answer = attempt(call, before(run, options));
    onAnswer();
    return answer;
  }

  /** Makes a call once, with a deadline among its options, and waits for its answer. */
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
   * Whether a call was refused as the server is a node of a cluster that does not lead the index:
   * it is to be made again, as all later ones, over the channel to the leaders.
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

  private void onAnswer() {
    if (!answered) {
      answered = true;
    }
  }

  private static CallOptions before(OperationRun run, CallOptions options) {
    return options.withDeadlineAfter(run.leftNs(), TimeUnit.NANOSECONDS);
  }

  /**
   * Whether a call is made again. The grace is for connecting, not for a server that is not there.
   */
  private boolean isRepeated(OperationRun run, Call<?, ?> call, Status status) {
    run.endGrace();
    return call.repeatable() && Failures.isLost(status) && state == State.OPEN && run.leftNs() > 0;
  }

  /** Of a call that waited in vain, the first status says why. */
  private static Status clearer(Status first, Status second) {
    return second.getCode() == Status.Code.DEADLINE_EXCEEDED ? first : second;
  }

  /**
   * Makes a call and returns at once.
   *
   * @param future fails with the call, or with what onAnswer throws. If it is done, nothing more is
   *     sent for it.
   * @param onAnswer gets the answer on a thread of the channel; completes the future, or makes the
   *     next call.
   */
  <Q, R> void send(CallFuture<?> future, Call<Q, R> call, Consumer<R> onAnswer) {
    send(future, call, onAnswer, future::fail);
  }

  /** As above; onFailure gets the failure instead of the future. */
  <Q, R> void send(
      CallFuture<?> future,
      Call<Q, R> call,
      Consumer<R> onAnswer,
      Consumer<IndexException> onFailure) {
    send(future, call, new Continuation<>(onAnswer, onFailure), null);
  }

  /** What follows a call. */
  private record Continuation<R>(Consumer<R> onAnswer, Consumer<IndexException> onFailure) {}

  private <Q, R> void send(
      CallFuture<?> future, Call<Q, R> call, Continuation<R> then, Status first) {
    final OperationRun run = future.run();
    start(
        future,
        call,
        first == null ? CallOptions.DEFAULT : CallOptions.DEFAULT.withWaitForReady(),
        then.onAnswer,
        status -> {
          if (first == null && !future.isDone() && isRepeated(run, call, status)) {
            send(future, call, then, status);
          } else {
            final Status clear = first == null ? status : clearer(first, status);
            then.onFailure.accept(run.failure(clear, !call.repeatable()));
          }
        });
  }

  /**
   * Makes a call once, and returns at once.
   *
   * @param future fails with what the others throw; to cancel it cancels the call.
   */
  <Q, R> void start(
      CallFuture<?> future,
      Call<Q, R> call,
      CallOptions options,
      Consumer<R> onAnswer,
      Consumer<Status> onFailure) {
    final Channel used = channel;
    final ClientCall<Q, R> next = used.newCall(call.method(), before(future.run(), options));
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
              proceed(future, () -> start(future, call, options, onAnswer, onFailure));
            } else {
              proceed(future, () -> onFailure.accept(Status.fromThrowable(failure)));
            }
          }

          @Override
          public void onCompleted() {
            onAnswer();
            proceed(future, () -> onAnswer.accept(answer));
          }
        };
    ClientCalls.asyncUnaryCall(next, call.request(), observer);
    future.follow(next);
  }

  /** Learns which nodes there are: if any, the server is one of a cluster. */
  void learn(List<String> nodes) {
    if (cluster != null && !nodes.isEmpty()) {
      cluster.nodes().learn(String.join(",", nodes));
      channel = cluster;
    }
  }

  /** Runs a step of an operation; what it throws fails the future. */
  static void proceed(CallFuture<?> future, Runnable step) {
    try {
      step.run();
    } catch (RuntimeException | Error e) { // of the application's function, for example
      future.fail(e);
    }
  }

  /**
   * Creates a call of a streaming method, which the caller starts, and {@link #leave}s at its end.
   * It ends with the client.
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
