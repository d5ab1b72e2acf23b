package dev.ringfetch.index.client;

import dev.ringfetch.index.v1.CloseClientRequest;
import dev.ringfetch.index.v1.DescribeResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.OpenClientResponse;
import io.grpc.CallOptions;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * The writes of a client: numbers them, so that the server carries each out once, and repeats a
 * write that ended UNAVAILABLE or that an overloaded server refused, after growing pauses until its
 * deadline. With an older server, which gives no numbers, writes are never repeated.
 *
 * <p>Safe for use by many threads; has no thread of its own.
 */
final class RepeatedWrites {
  /** How long {@link #close} waits for the server. */
  private static final long CLOSE_LIMIT_NS = TimeUnit.MILLISECONDS.toNanos(250);

  private final IndexCalls calls;

  /**
   * Numbers by the name of the index: in a cluster each index has its own leader, which assigns
   * them.
   */
  private final Map<String, ClientNumbers> numbers = new ConcurrentHashMap<>();

  private final boolean exactlyOnce;

  /**
   * Creates it.
   *
   * @param exactlyOnce whether writes have numbers; if not, they are never repeated.
   */
  RepeatedWrites(IndexCalls calls, boolean exactlyOnce) {
    this.calls = calls;
    this.exactlyOnce = exactlyOnce;
  }

  private ClientNumbers of(KnownIndex known) {
    final ClientNumbers found = numbers.get(known.name());
    return found != null ? found : numbers.computeIfAbsent(known.name(), ClientNumbers::new);
  }

  /** Whether writes to an index have numbers. */
  private boolean isNumbered(KnownIndex known) {
    return exactlyOnce && !of(known).isUnsupported();
  }

  /**
   * Makes a call and waits for its answer.
   *
   * @param known the index that it is about.
   */
  <Q, R> R call(OperationRun run, Call<Q, R> call, KnownIndex known) {
    calls.admit(run); // before others wait for the number that it requests
    if (call.numbering() == null) {
      return callOnce(run, call, known);
    }
    final NumberedWrite<Q, R> write = new NumberedWrite<>(run, call, known);
    try {
      R answer = null;
      while (answer == null) {
        if (!write.hasNumbers()) {
          if (call.creating()) {
            known.ensure(calls, run);
          }
          if (!isNumbered(known)) {
            return callOnce(run, call, known);
          }
          if (known.latest() != 0) {
            takeNumbers(write);
          } else if (!call.creating()) { // numbers are of an index
            known.answered(incarnation(calls.call(run, known.describe())));
            if (known.latest() == 0) {
              return call.withoutIndex();
            }
          } // else it was dropped meanwhile, and is created again
        }
        answer = write.hasNumbers() ? attempt(write) : null;
      }
      return answer;
    } finally {
      write.end();
    }
  }

  private static long incarnation(DescribeResponse described) {
    return described.getIndex().getIncarnation();
  }

  private <Q, R> R callOnce(OperationRun run, Call<Q, R> call, KnownIndex known) {
    try {
      return calls.call(run, call);
    } catch (UnavailableException e) {
      of(known).lost();
      throw e;
    }
  }

  /** Makes an attempt; returns null if another one must follow. */
  private <Q, R> R attempt(NumberedWrite<Q, R> write) {
    Status failure;
    try {
      final Call<Q, R> next = write.next();
      final R answer = calls.attempt(write.run(), next, write.options());
      failure = write.answered(answer);
      if (failure == null) {
        return answer;
      }
    } catch (StatusRuntimeException e) {
      failure = e.getStatus();
    }
    switch (write.failed(failure)) {
      case RENUMBER -> renumber(write);
      case REPEAT -> pause(write);
      case FAIL -> throw write.failure();
    }
    return null;
  }

  /** Gives up numbers of a client, and maybe of an index, which the server does not know. */
  private void renumber(NumberedWrite<?, ?> write) {
    of(write.known()).forget(write.giveUpNumbers());
    write.known().missing();
  }

  private void pause(NumberedWrite<?, ?> write) {
    calls.pause(write.run());
    if (calls.isClosed()) {
      throw write.failure();
    }
  }

  /** Takes numbers for a write if there are any; else has a client opened, for the next time. */
  private void takeNumbers(NumberedWrite<?, ?> write) {
    final ClientNumbers of = of(write.known());
    final ClientWindow.Numbers taken = of.take(write.writes());
    if (taken != null) {
      write.take(taken);
      return;
    }
    final ClientNumbers.Opening opening = of.open();
    if (opening.isOwn()) {
      open(of, write, opening);
    } else {
      await(write.run(), opening);
    }
  }

  private void open(ClientNumbers of, NumberedWrite<?, ?> write, ClientNumbers.Opening opening) {
    Status.Code code = Status.Code.UNKNOWN;
    try {
      opened(of, opening, calls.call(write.run(), opening.call()));
    } catch (IndexException e) {
      code = e.code();
      switch (code) {
        case NOT_FOUND -> write.known().missing();
        case UNIMPLEMENTED -> {} // writes go without numbers
        default -> throw e;
      }
    } finally {
      if (!opening.ended().isDone()) {
        of.failed(opening, code);
      }
    }
  }

  private void opened(
      ClientNumbers of, ClientNumbers.Opening opening, OpenClientResponse response) {
    calls.learn(response.getNodesList());
    of.opened(opening, response);
  }

  private static void await(OperationRun run, ClientNumbers.Opening opening) {
    try {
      opening.ended().get(Math.max(0, run.leftNs()), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw run.failure(Status.CANCELLED.withDescription("the thread was interrupted"), false);
    } catch (TimeoutException e) {
      throw run.failure(late(), false);
    } catch (ExecutionException e) { // it never ends so
      throw new IllegalStateException(e);
    }
  }

  private static Status late() {
    return Status.DEADLINE_EXCEEDED.withDescription(
        "while a number for the client was asked for; it was not sent");
  }

  /** The continuation of an asynchronous write. */
  private record Continuation<R>(
      CallFuture<?> future, Consumer<R> onAnswer, Consumer<IndexException> onFailure) {}

  /** Makes a call and returns at once; otherwise like {@link #call} and {@link IndexCalls#send}. */
  <Q, R> void send(
      CallFuture<?> future,
      Call<Q, R> call,
      KnownIndex known,
      Consumer<R> onAnswer,
      Consumer<IndexException> onFailure) {
    final Continuation<R> then = new Continuation<>(future, onAnswer, onFailure);
    if (call.numbering() == null) {
      sendOnce(call, known, then);
    } else {
      send(new NumberedWrite<>(future.run(), call, known), call, then);
    }
  }

  private <Q, R> void sendOnce(Call<Q, R> call, KnownIndex known, Continuation<R> then) {
    calls.send(
        then.future,
        call,
        then.onAnswer,
        failure -> {
          if (failure.isLost()) {
            of(known).lost();
          }
          then.onFailure.accept(failure);
        });
  }

  /** Takes numbers if the write has none, and makes an attempt. */
  private <Q, R> void send(NumberedWrite<Q, R> write, Call<Q, R> call, Continuation<R> then) {
    if (then.future.isAbandoned()) {
      write.end();
      return;
    }
    if (write.hasNumbers()) {
      attempt(write, call, then);
    } else if (call.creating()) {
      write.known().ensure(calls, then.future, () -> sendFirst(write, call, then), then.onFailure);
    } else {
      sendFirst(write, call, then);
    }
  }

  private <Q, R> void sendFirst(NumberedWrite<Q, R> write, Call<Q, R> call, Continuation<R> then) {
    final KnownIndex known = write.known();
    if (!isNumbered(known)) {
      sendOnce(call, known, then);
    } else if (known.latest() == 0) {
      if (call.creating()) {
        send(write, call, then);
      } else {
        describe(write, call, then);
      }
    } else {
      final ClientWindow.Numbers taken = of(known).take(write.writes());
      if (taken == null) {
        open(write, call, then);
      } else {
        write.take(taken);
        attempt(write, call, then);
      }
    }
  }

  /** Asks for the incarnation of the index, before it asks for numbers; then continues. */
  private <Q, R> void describe(NumberedWrite<Q, R> write, Call<Q, R> call, Continuation<R> then) {
    calls.send(
        then.future,
        write.known().describe(),
        described -> {
          write.known().answered(incarnation(described));
          if (write.known().latest() == 0) {
            write.end();
            then.onAnswer.accept(call.withoutIndex());
          } else {
            send(write, call, then);
          }
        },
        failure -> {
          write.end();
          then.onFailure.accept(failure);
        });
  }

  private <Q, R> void attempt(NumberedWrite<Q, R> write, Call<Q, R> call, Continuation<R> then) {
    final Call<Q, R> next = write.next();
    calls.start(
        then.future,
        next,
        write.options(),
        answer -> {
          final Status failure = write.answered(answer);
          if (failure != null) {
            failed(write, call, then, failure);
          } else {
            write.end();
            then.onAnswer.accept(answer);
          }
        },
        failure -> failed(write, call, then, failure));
  }

  private <Q, R> void failed(
      NumberedWrite<Q, R> write, Call<Q, R> call, Continuation<R> then, Status status) {
    switch (then.future.isDone() || calls.isClosed() ? end(write, status) : write.failed(status)) {
      case RENUMBER -> {
        renumber(write);
        send(write, call, then);
      }
      case REPEAT -> calls.later(then.future, () -> send(write, call, then));
      case FAIL -> {
        final IndexException failure = write.failure();
        write.end();
        then.onFailure.accept(failure);
      }
    }
  }

  private static NumberedWrite.Next end(NumberedWrite<?, ?> write, Status status) {
    write.failedLast(status);
    return NumberedWrite.Next.FAIL;
  }

  private <Q, R> void open(NumberedWrite<Q, R> write, Call<Q, R> call, Continuation<R> then) {
    final ClientNumbers of = of(write.known());
    final ClientNumbers.Opening opening = of.open();
    if (!opening.isOwn()) {
      final var unused =
          opening
              .ended()
              .copy()
              .orTimeout(Math.max(0, then.future.run().leftNs()), TimeUnit.NANOSECONDS)
              .whenCompleteAsync( // not on the JVM's timer thread
                  (ended, late) ->
                      calls.resume(
                          then.future,
                          () -> {
                            if (late == null) {
                              send(write, call, then);
                            } else {
                              then.onFailure.accept(then.future.run().failure(late(), false));
                            }
                          }),
                  calls.threads().pool());
      return;
    }
    boolean sent = false;
    try {
      calls.send(
          then.future,
          opening.call(),
          response -> {
            opened(of, opening, response);
            send(write, call, then);
          },
          failure -> {
            of.failed(opening, failure.code());
            switch (failure.code()) {
              case NOT_FOUND -> {
                write.known().missing();
                send(write, call, then);
              }
              case UNIMPLEMENTED -> send(write, call, then); // without numbers
              default -> then.onFailure.accept(failure);
            }
          });
      sent = true;
    } finally {
      if (!sent) {
        of.failed(opening, Status.Code.UNKNOWN);
      }
    }
  }

  /** Gives the client's numbers back, if the server is there. */
  void close() {
    final long endNs = System.nanoTime() + CLOSE_LIMIT_NS;
    numbers.values().stream()
        .map(ClientNumbers::closing)
        .filter(Objects::nonNull)
        .forEach(request -> close(request, endNs - System.nanoTime()));
  }

  private void close(CloseClientRequest request, long leftNs) {
    try {
      calls.attempt(
          Call.reading(IndexGrpc.getCloseClientMethod(), request),
          CallOptions.DEFAULT.withDeadlineAfter(Math.max(0, leftNs), TimeUnit.NANOSECONDS));
    } catch (StatusRuntimeException e) {
      // The lease ends it.
    }
  }
}
