package dev.ringfetch.index.client;

import com.google.protobuf.ByteString;
import java.time.Duration;

/**
 * What the blocking and the asynchronous view of an index share. Immutable.
 *
 * @param timeoutNs how long a call may take, in nanoseconds.
 */
record View<K, V>(
    IndexCalls calls, KnownIndex known, IndexRequests<K, V> requests, long timeoutNs) {
  Subject subject(Operation operation, ByteString key) {
    return new Subject(operation, requests.name(), key);
  }

  OperationRun begin(Operation operation, ByteString key) {
    return calls.begin(subject(operation, key), timeoutNs);
  }

  View<K, V> withDeadline(Duration deadline) {
    return new View<>(calls, known, requests, checkDeadline(deadline));
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
