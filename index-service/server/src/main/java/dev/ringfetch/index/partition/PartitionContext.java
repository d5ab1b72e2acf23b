package dev.ringfetch.index.partition;

import dev.ringfetch.index.outcome.OutcomeTable;
import dev.ringfetch.index.v1.Appends;
import org.jspecify.annotations.Nullable;

/**
 * The parameters of a partition besides its store and its log.
 *
 * @param capacity limit of the elements in the queue, each a write or the puts of a batch; of the
 *     elements that the owner has taken from it; and of the writes that wait for their commit,
 *     above which the owner takes no more.
 * @param owner the common context of all partitions.
 * @param outcomes of the numbered writes that the log already has.
 * @param appends what the index keeps if it is one for appends; else null.
 */
public record PartitionContext(
    int capacity, OwnerContext owner, OutcomeTable outcomes, @Nullable Appends appends) {
  /**
   * Creates the context.
   *
   * @throws IllegalArgumentException if the capacity is less than 1.
   */
  public PartitionContext {
    if (capacity < 1) {
      throw new IllegalArgumentException("capacity=" + capacity);
    }
  }
}
