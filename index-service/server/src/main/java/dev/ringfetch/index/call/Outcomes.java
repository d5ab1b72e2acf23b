package dev.ringfetch.index.call;

import dev.ringfetch.index.data.DataDirectory;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.journal.Journal;
import dev.ringfetch.index.layout.CounterDescriptor;
import dev.ringfetch.index.outcome.OutcomeBudget;
import dev.ringfetch.index.partition.Transaction;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.store.PartitionStore;
import dev.ringfetch.index.store.StoreMemory;
import dev.ringfetch.index.v1.StatusTexts;
import io.grpc.Status;
import java.io.IOException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The statuses of writes that a server has not carried out. Each names the limit or the fault.
 *
 * <p>Safe for use by many threads.
 */
public final class Outcomes {
  private final StoreMemory store;
  private final String limitReason;
  private final DataDirectory data;
  private final OutcomeBudget kept;
  private final Supplier<Journal> journal;

  /**
   * Creates the statuses of a server.
   *
   * @param limitReason where the limit of the store's memory comes from; empty: somebody set it
   * @param data null if there is none
   * @param kept bounds the outcomes of writes with numbers
   * @param journal gives null as long as no index needs one
   */
  public Outcomes(
      StoreMemory store,
      String limitReason,
      @Nullable DataDirectory data,
      OutcomeBudget kept,
      Supplier<@Nullable Journal> journal) {
    this.store = store;
    this.limitReason = limitReason;
    this.data = data;
    this.kept = kept;
    this.journal = journal;
  }

  /** The status of a write whose outcome is not {@link Write#DONE}. */
  public Status status(ServedIndex index, Write write) {
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
      case Write.UNKNOWN -> ended(index, write);
      case Write.ANSWER_TOO_LONG ->
          Status.RESOURCE_EXHAUSTED.withDescription(
              "the entries that the transaction reads are longer than an answer may be: limit="
                  + Transaction.MAX_ANSWER_BYTES
                  + " bytes; nothing was changed");
      case Write.OUTCOME_GONE -> gone(write.client().id(), write.number());
      case Write.NUMBER_REUSED ->
          Status.INVALID_ARGUMENT.withDescription(
              "another write had this number: number=" + write.number());
      default -> status(index, write.outcome());
    };
  }

  /** The status of a write that was under way when writing ended. */
  private Status ended(ServedIndex index, Write write) {
    if (index.isDropped() && index.leadership().isOnly()) {
      return dropped(index);
    }
    if (write.isReading()) {
      return stopped();
    }
    return write.client() == null
        ? unknown()
        : Status.UNAVAILABLE.withDescription(
            "writing ended: the write was carried out or not; send it again" + journalFailure());
  }

  /** The status of a write that was not submitted, or of such an outcome that says all. */
  public Status status(ServedIndex index, int outcome) {
    return switch (outcome) {
      case Write.QUEUE_FULL ->
          overloaded("too many writes wait: limit=" + ServedIndex.QUEUE_CAPACITY + " a partition");
      case Write.MEMORY_FULL -> memoryFull();
      case Write.NOT_A_BOX -> RequestLimits.notABox(index.name());
      case Write.NOT_AN_APPEND ->
          Status.FAILED_PRECONDITION.withDescription(
              "the index takes no entries but those that are appended: index=" + index.name());
      case Write.VERSIONS_EXHAUSTED ->
          Status.RESOURCE_EXHAUSTED.withDescription(
              "no version is left: index=" + index.name() + "; create another index");
      case Write.DAMAGED -> damaged(index);
      case Write.LOG_FULL ->
          index.leadership().isOnly()
              ? journalFull()
              : overloaded("too much waits for the members: index=" + index.name());
      case Write.OVER_QUOTA -> overQuota("index=" + index.name());
      case Write.UNAVAILABLE -> index.isDropped() ? dropped(index) : stopped();
      case Write.UNKNOWN -> unknown();
      case Write.OUTCOMES_FULL ->
          overloaded(
              "too many outcomes of writes with numbers are kept: limit="
                  + kept.limit()
                  + "; answered ones make room as their clients go on");
      default -> throw new IllegalArgumentException("outcome=" + outcome);
    };
  }

  /** The status of a call that was not carried out, and may be sent again at once. */
  public static Status overloaded(String limit) {
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

  /** The status of a call that needs an index of this name. */
  public static Status absent(String index) {
    return Status.NOT_FOUND.withDescription("there is no such index: index=" + index);
  }

  /** The status of a call under which its index was dropped, or another node became its leader. */
  public static Status dropped(ServedIndex index) {
    return index.leadership().isOnly()
        ? Status.ABORTED.withDescription("the index was dropped: index=" + index.name())
        : deposed(index);
  }

  /** The status of a call that finds the node leading its index no more: a repetition may do. */
  public static Status deposed(ServedIndex index) {
    return Status.UNAVAILABLE.withDescription(
        "this node leads the index no more: index=" + index.name() + "; send again");
  }

  /** The status of a call for an index that was refused. */
  public static Status damaged(ServedIndex index) {
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

  /** The status of an increment that found no counter, or one that would overflow. */
  public static Status notCounted(long valueLength, String increment) {
    return valueLength == CounterDescriptor.LENGTH
        ? Status.OUT_OF_RANGE.withDescription("the counter would leave 64 bits: " + increment)
        : Status.FAILED_PRECONDITION.withDescription(
            "the value is no counter: length="
                + valueLength
                + " bytes, a counter has "
                + CounterDescriptor.LENGTH
                + "; "
                + increment);
  }

  /** The status of a write without a number that was under way when writing ended. */
  public static Status unknown() {
    return Status.UNKNOWN.withDescription("writing ended: the write was carried out or not");
  }

  /** The status of a write that comes after writing has ended. */
  public Status stopped() {
    return Status.UNAVAILABLE.withDescription(
        "the server takes no writes any more" + journalFailure());
  }

  /** The status of a write whose outcome is not kept. */
  public static Status gone(long client, long number) {
    return Status.FAILED_PRECONDITION.withDescription(
        StatusTexts.OUTCOME_GONE
            + ": the write was complete, or the client's number has ended: client="
            + Long.toUnsignedString(client)
            + " number="
            + number);
  }

  /** The status of a write that finds no memory. */
  public Status memoryFull() {
    return Status.RESOURCE_EXHAUSTED
        .withDescription("index memory " + fullness() + "; deletes make room")
        .withCause(isGrowthFailed() ? store.growthFailure() : null);
  }

  private boolean isGrowthFailed() {
    return store.growthFailure() != null && !store.isAtLimit();
  }

  /** Why there is no more memory, as the end of a sentence. */
  public String fullness() {
    if (isGrowthFailed()) {
      return "cannot grow: "
          + store.growthFailure().getMessage()
          + "; used="
          + store.usedBytes()
          + " bytes, limit="
          + store.budget();
    }
    return "is full: limit="
        + store.budget()
        + " bytes, which --memory sets"
        + (limitReason.isEmpty() ? "" : " (" + limitReason + ")");
  }

  /** The status of a write that finds no room in the journal. */
  public Status journalFull() {
    final IOException shortage = journal.get().shortage();
    return Status.RESOURCE_EXHAUSTED.withDescription(
        "the journal has no room left: data="
            + data
            + (shortage == null ? "" : ": " + shortage.getMessage())
            + "; it takes writes again when there is room");
  }

  /** Whether this server's data directory exceeds its quota. */
  public boolean isOverQuota() {
    final Journal opened = journal.get();
    return opened != null && opened.quota().isExceeded();
  }

  /**
   * The status of a call that would add entries to a data directory beyond its quota: this
   * server's, or that of another member. The refusals may have ended since the call was refused.
   *
   * @param what would have grown
   */
  public Status overQuota(String what) {
    final Journal opened = journal.get();
    final IOException own = opened == null ? null : opened.quota().reason();
    return Status.RESOURCE_EXHAUSTED.withDescription(
        own == null
            ? "the data directory of a member exceeds its quota: "
                + what
                + "; see 'index cluster'; delete entries or drop indexes, or raise its --disk-quota"
            : own.getMessage() + ": " + what + " data=" + data);
  }

  /** Whether nothing is written to the disk any more. */
  public boolean isJournalFailed() {
    final Journal opened = journal.get();
    return opened != null && opened.failure() != null;
  }

  /** Why nothing is written any more, as the end of a sentence. */
  private String journalFailure() {
    final Journal opened = journal.get();
    final IOException failure = opened == null ? null : opened.failure();
    return failure == null ? "" : ": data=" + data + ": " + failure.getMessage();
  }
}
