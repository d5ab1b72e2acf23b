package dev.ringfetch.index.service;

import dev.ringfetch.index.partition.Write;
import io.grpc.Status;

/** The statuses of writes that were not carried out. Immutable. */
final class Outcomes {
  private final IndexMemory memory;

  Outcomes(IndexMemory memory) {
    this.memory = memory;
  }

  /** The status of an outcome other than {@link Write#DONE}. */
  Status status(ServedIndex index, int outcome) {
    return switch (outcome) {
      case Write.QUEUE_FULL ->
          Status.RESOURCE_EXHAUSTED.withDescription(
              "too many writes wait: limit=" + ServedIndex.QUEUE_CAPACITY + " a partition");
      case Write.MEMORY_FULL -> memory.full();
      case Write.VERSIONS_EXHAUSTED ->
          Status.RESOURCE_EXHAUSTED.withDescription(
              "no version is left: index=" + index.name() + "; create another index");
      case Write.UNAVAILABLE -> index.isDropped() ? dropped(index) : stopped();
      case Write.UNKNOWN ->
          Status.UNKNOWN.withDescription("writing ended: the write was carried out or not");
      default -> throw new IllegalArgumentException("outcome=" + outcome);
    };
  }

  /** The status of a call under which its index was dropped. */
  static Status dropped(ServedIndex index) {
    return Status.ABORTED.withDescription("the index was dropped: index=" + index.name());
  }

  /** The status of a read of memory whose gate this server has not moved there. */
  static Status gateMoved() {
    return Status.UNAVAILABLE.withDescription(
        "the gate is not this server's: another server has taken over, or another process has"
            + " written to it");
  }

  private static Status stopped() {
    return Status.UNAVAILABLE.withDescription("the server takes no writes any more");
  }
}
