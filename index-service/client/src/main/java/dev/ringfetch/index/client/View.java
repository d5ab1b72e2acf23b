package dev.ringfetch.index.client;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.direct.DirectValue;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;

/**
 * The common part of the blocking and the asynchronous view of an index. Immutable.
 *
 * @param calls makes the calls that read.
 * @param writes makes the calls that write.
 * @param timeoutNs how long a call may take, in nanoseconds.
 */
record View<K, V>(
    IndexCalls calls,
    RepeatedWrites writes,
    KnownIndex known,
    IndexRequests<K, V> requests,
    long timeoutNs) {
  Subject subject(Operation operation, ByteString key) {
    return new Subject(operation, requests.name(), key);
  }

  OperationRun begin(Operation operation, ByteString key) {
    return calls.begin(subject(operation, key), timeoutNs);
  }

  /** Makes a call, waits for its answer, and notes the incarnation in it. */
  <Q, R> R call(OperationRun run, Call<Q, R> call, ToLongFunction<R> incarnation) {
    final R response = writes.call(run, call, known);
    known.answered(incarnation.applyAsLong(response));
    return response;
  }

  /** Makes a call and returns at once; notes the answer's incarnation before the callback runs. */
  <Q, R> void send(
      CallFuture<?> future, Call<Q, R> call, ToLongFunction<R> incarnation, Consumer<R> then) {
    send(future, call, incarnation, then, future::fail);
  }

  /** Same; reports the failure to onFailure instead of to the future. */
  <Q, R> void send(
      CallFuture<?> future,
      Call<Q, R> call,
      ToLongFunction<R> incarnation,
      Consumer<R> then,
      Consumer<IndexException> onFailure) {
    writes.send(
        future,
        call,
        known,
        response -> {
          known.answered(incarnation.applyAsLong(response));
          then.accept(response);
        },
        onFailure);
  }

  /** The entry of a key as it was read in memory. */
  Optional<IndexEntry<K, V>> read(OperationRun run, K key, boolean present, DirectValue value) {
    known.answered(value.incarnation());
    if (!present) {
      return Optional.empty();
    }
    final V decoded = requests.value(run.subject(), value.value());
    return Optional.of(
        new IndexEntry<>(key, decoded, value.version(), IndexEntry.deadline(value.deadline())));
  }

  View<K, V> withDeadline(Duration deadline) {
    return new View<>(calls, writes, known, requests, checkDeadline(deadline));
  }

  /** Returns it in nanoseconds. */
  static long checkDeadline(Duration deadline) {
    if (deadline.isNegative() || deadline.isZero()) {
      throw new IllegalArgumentException("deadline=" + deadline + " is not positive");
    }
    try {
      return deadline.toNanos();
    } catch (ArithmeticException e) {
      throw new IllegalArgumentException("deadline=" + deadline + " is too long", e);
    }
  }
}
