package dev.ringfetch.index.linearizability;

import dev.ringfetch.index.linearizability.Call.Kind;

/**
 * One operation of a history. It took effect at some moment between its two times; if it is open,
 * at some moment after the first, or never.
 *
 * <p>The keys of a batch are an operation each, with the times of the whole batch: the index does
 * not promise that they are read at one moment. All times are {@link System#nanoTime}, which is one
 * clock for all processes of a host where it is the kernel's CLOCK_MONOTONIC, as on Linux.
 *
 * @param key number of the key
 * @param call what was asked
 * @param answer what came back
 * @param ring whether it was sent over a ring, or else over gRPC
 * @param invokedNs before it was sent
 * @param answeredNs after the answer came
 */
public record Operation(
    int key, Call call, Answer answer, boolean ring, long invokedNs, long answeredNs) {
  boolean isOpen() {
    return answer.isOpen();
  }

  /** Whether the answer says that it wrote an entry. */
  boolean wrote() {
    return !isOpen()
        && (call.kind().isPut() || (call.kind() == Kind.COMPARE_AND_SET && answer.yes()));
  }

  /** The value that was under the key, at the version in the answer; 0 if the answer has none. */
  long valueAtVersion() {
    return call.kind().isPut() ? call.value() : answer.value();
  }

  /** As if the answer had not come. */
  Operation open() {
    return answered(Answer.OPEN);
  }

  Operation answered(Answer other) {
    return new Operation(key, call, other, ring, invokedNs, answeredNs);
  }

  @Override
  public String toString() {
    return String.format(
        "%d..%s %s %s %s expected=%d -> %s",
        invokedNs,
        isOpen() ? "" : answeredNs,
        ring ? "ring" : "grpc",
        call.kind(),
        Values.text(call.value()),
        call.expected(),
        answer);
  }
}
