package dev.ringfetch.index.client;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The result of a transaction.
 *
 * @param succeeded whether all conditions held, and so which list of operations was carried out.
 * @param version of all entries that it wrote; empty if it changed nothing.
 * @param answers of the operations of that list, in their order.
 */
public record TransactionResult<K, V>(
    boolean succeeded, OptionalLong version, List<Answer<K, V>> answers) {
  /** Creates a result. */
  public TransactionResult {
    answers = List.copyOf(answers);
  }

  /**
   * The answer of one operation.
   *
   * @param existed whether there was an entry before the operation.
   * @param entry that a get found; empty if it found none, and for other operations.
   * @param counter after an increment; 0 for other operations.
   */
  public record Answer<K, V>(boolean existed, Optional<IndexEntry<K, V>> entry, long counter) {}

  /** The value that the get at this place of the list found; empty if there was none. */
  public Optional<V> value(int number) {
    return answers.get(number).entry().map(IndexEntry::value);
  }
}
