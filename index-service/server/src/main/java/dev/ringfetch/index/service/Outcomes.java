package dev.ringfetch.index.service;

import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.store.PartitionStore;
import dev.ringfetch.index.v1.StatusTexts;
import io.grpc.Status;

/** The statuses of writes that were not carried out. Immutable. */
final class Outcomes {
  private final IndexMemory memory;

  Outcomes(IndexMemory memory) {
    this.memory = memory;
  }

  /** The status of a write whose outcome is not {@link Write#DONE}. */
  Status status(ServedIndex index, Write write) {
    return switch (write.outcome()) {
      case Write.TOO_MANY_COLLISIONS ->
          Status.RESOURCE_EXHAUSTED.withDescription(
              "too many keys hash as this one does: limit="
                  + PartitionStore.MAX_COLLISIONS
                  + " keys, there are "
                  + write.excess());
      case Write.COLLISIONS_TOO_LONG ->
          Status.RESOURCE_EXHAUSTED.withDescription(
              "keys that hash as this one does have too long values: limit="
                  + PartitionStore.MAX_COLLISION_BYTES
                  + " bytes, with this one there were "
                  + write.excess());
      case Write.UNKNOWN ->
          write.client() == null || (index.isDropped() && index.leadership() == null)
              ? unknown()
              : Status.UNAVAILABLE.withDescription(
                  "writing ended: the write was carried out or not; send it again"
                      + memory.journalFailure());
      case Write.OUTCOME_GONE -> RequestNumbers.gone(write.client().id(), write.number());
      case Write.NUMBER_REUSED ->
          Status.INVALID_ARGUMENT.withDescription(
              "another write had this number: number=" + write.number());
      default -> status(index, write.outcome());
    };
  }

  /** The status of a write that was not submitted, or of such an outcome that says all. */
  Status status(ServedIndex index, int outcome) {
    return switch (outcome) {
      case Write.QUEUE_FULL ->
          overloaded("too many writes wait: limit=" + ServedIndex.QUEUE_CAPACITY + " a partition");
      case Write.MEMORY_FULL -> memory.full();
      case Write.VERSIONS_EXHAUSTED ->
          Status.RESOURCE_EXHAUSTED.withDescription(
              "no version is left: index=" + index.name() + "; create another index");
      case Write.DAMAGED -> damaged(index);
      case Write.LOG_FULL ->
          index.leadership() == null
              ? memory.journalFull()
              : overloaded("too much waits for the members: index=" + index.name());
      case Write.UNAVAILABLE -> index.isDropped() ? dropped(index) : stopped(memory);
      case Write.UNKNOWN -> unknown();
      case Write.OUTCOMES_FULL ->
          overloaded(
              "too many outcomes of writes with numbers are kept: limit="
                  + memory.outcomes().limit()
                  + "; answered ones make room as their clients go on");
      default -> throw new IllegalArgumentException("outcome=" + outcome);
    };
  }

  /** The status of a call that was not carried out, and may be sent again at once. */
  static Status overloaded(String limit) {
    return Status.RESOURCE_EXHAUSTED.withDescription(
        StatusTexts.OVERLOADED + limit + "; nothing was done, send again");
  }

  /**
   * The status of a read that found its index closed; refuses the index if nothing but another
   * process can have closed it.
   */
  static Status closed(ServedIndex index) {
    if (index.isDropped()) {
      return dropped(index);
    }
    if (index.isServed()) {
      index.refuse(); // another process changed the open word
      return damaged(index);
    }
    return turned(index);
  }

  /** The status of a call under which its index was dropped, or another node became its leader. */
  static Status dropped(ServedIndex index) {
    if (index.leadership() != null) {
      return Status.UNAVAILABLE.withDescription(
          "this node leads the index no more: index=" + index.name() + "; send again");
    }
    return Status.ABORTED.withDescription("the index was dropped: index=" + index.name());
  }

  /** The status of a call for an index that was refused. */
  static Status damaged(ServedIndex index) {
    return Status.DATA_LOSS.withDescription(
        "the index's memory was changed or taken away by another process: index="
            + index.name()
            + "; drop it and create it again");
  }

  /** The status of a read under which another server has moved the gate. */
  static Status turned(ServedIndex index) {
    return Status.UNAVAILABLE.withDescription(
        "another server has taken over, or another process has written to the gate: index="
            + index.name());
  }

  /** The status of a write that was under way when writing ended. */
  static Status unknown() {
    return Status.UNKNOWN.withDescription("writing ended: the write was carried out or not");
  }

  /** The status of a write that comes after writing has ended. */
  static Status stopped(IndexMemory memory) {
    return Status.UNAVAILABLE.withDescription(
        "the server takes no writes any more" + memory.journalFailure());
  }
}
