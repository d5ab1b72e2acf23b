package dev.ringfetch.index.partition;

import dev.ringfetch.index.v1.Comparison;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.OperationAnswer;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The owner's validation of transactions: compares entries, computes what the chosen operations
 * answer and change, and reserves memory for all changes, or for none.
 *
 * <p>Used by the owner alone.
 */
final class TransactionCycle {
  private final KeyState present;
  private final @Nullable ExpiryCycle expiry; // null if the store has no deadlines
  private long answerBytes;

  TransactionCycle(KeyState present, @Nullable ExpiryCycle expiry) {
    this.present = present;
    this.expiry = expiry;
  }

  /** Begins a validation, and assigns deadlines to entries that may be written. */
  void begin(Transaction transaction, WriteCycle cycle) {
    transaction.begin();
    stamp(transaction.operations(true), cycle);
    stamp(transaction.operations(false), cycle);
  }

  private void stamp(Write[] operations, WriteCycle cycle) {
    for (final Write operation : operations) {
      if (operation.ttlMs() != 0) {
        Objects.requireNonNull(expiry, "the store keeps no deadlines").stamp(operation, cycle);
      }
    }
  }

  /**
   * Validates a transaction.
   *
   * @return 0, or the negative outcome: then no memory is reserved
   */
  int validate(Transaction transaction) {
    transaction.compared(compare(transaction));
    answerBytes = 0;
    for (final Write operation : transaction.chosen()) {
      final int refused = validate(transaction, operation);
      if (refused != 0) {
        present.release(transaction);
        transaction.detail(operation.excess());
        return refused;
      }
      if (operation.isUnchanged()) { // an increment of what is no counter
        present.release(transaction);
        transaction.refuse(operation.detail());
        return 0;
      }
    }
    transaction.validated();
    return 0;
  }

  private boolean compare(Transaction transaction) {
    boolean allHold = true;
    for (final Comparison comparison : transaction.comparisons()) {
      present.look(comparison.getKey());
      transaction.sees(present.seen());
      final Entry found = comparison.hasValue() ? present.entry() : null;
      allHold &= Transaction.holds(comparison, present.version(), found);
    }
    return allHold;
  }

  /** Validates an operation; returns 0, or the negative outcome of the transaction. */
  private int validate(Transaction transaction, Write operation) {
    final Write earlier = transaction.part(operation.key());
    if (earlier != null) { // a read, as no other operation changes the key
      return answer(transaction, earlier.writesEntry() ? earlier.written() : null);
    }
    present.look(operation.key());
    transaction.sees(present.seen());
    final boolean exists = present.version() != 0;
    if (operation.kind() == WriteKind.READ) {
      return answer(transaction, present.entry());
    }
    final OperationAnswer.Builder answer = OperationAnswer.newBuilder().setExisted(exists);
    if (operation.kind() == WriteKind.INCREMENT) {
      final Entry found = present.entry();
      if (!operation.count(found)) {
        operation.unchanged(found.getValue().size());
        return 0;
      }
      answer.setCounter(operation.detail());
    }
    operation.found(operation.removesEntry() == exists);
    if (operation.writesEntry()) {
      final int refused = present.reserve(operation);
      if (refused != 0) {
        return refused;
      }
    }
    if (operation.writesEntry() || exists) {
      operation.former = present.place();
      transaction.add(operation);
    }
    transaction.answer(answer);
    return 0;
  }

  private int answer(Transaction transaction, @Nullable Entry found) {
    final OperationAnswer.Builder answer = OperationAnswer.newBuilder();
    if (found != null) {
      answer.setExisted(true).setEntry(found);
      answerBytes += found.getSerializedSize();
    }
    transaction.answer(answer);
    return answerBytes > Transaction.MAX_ANSWER_BYTES ? Write.ANSWER_TOO_LONG : 0;
  }
}
