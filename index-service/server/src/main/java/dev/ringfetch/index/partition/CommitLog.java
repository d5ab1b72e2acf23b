package dev.ringfetch.index.partition;

/**
 * The log of one partition's records: assigns each a log sequence number (LSN), and tells which
 * ones are committed. The LSN of a record is the version of the entry that it writes.
 *
 * <p>LSNs only grow, and a record is committed only together with all records before it. A failed
 * log stays failed: it is unknown whether the records after the last commit survive.
 *
 * <p>The partition's owner appends, one thread at a time. Any thread calls {@link #committed}.
 */
public interface CommitLog {
  /** The largest LSN: an entry keeps its version in 48 bits. */
  long MAX_LSN = (1L << 48) - 1;

  /** The log has failed for good. */
  long FAILED = -1;

  /** Returned by {@link #append}: there is no LSN left. */
  long EXHAUSTED = -2;

  /** Returned by {@link #append}: there is no room for the record now. */
  long FULL = -3;

  /**
   * Returned by {@link #append}: there will be room for the record; {@link #hasRoom} is false until
   * then.
   */
  long LATER = -4;

  /** Returned by {@link #append}: a data directory exceeds its quota, and takes no more entries. */
  long OVER_QUOTA = -5;

  /**
   * Appends the record of a write. Before the return, the log reads everything that it needs: kind,
   * key, value, and the result (created, existed, applied). Key and value never change, so the log
   * may keep references to them. The key of an {@link AppendWrite} is the LSN that it must get: one
   * more than the LSN before.
   *
   * @return the record's LSN, or {@link #FAILED}, {@link #EXHAUSTED}, {@link #FULL}, {@link
   *     #OVER_QUOTA} or {@link #LATER}, in which cases nothing was appended.
   */
  long append(Write write);

  /**
   * The largest committed LSN. If no record is committed: 0, or the LSN after which the log began.
   * {@link #FAILED} once the log has failed.
   */
  long committed();

  /** The largest LSN whose record survives a crash, if the log keeps records at all. Any thread. */
  default long durable() {
    return committed();
  }

  /**
   * True if each record is committed, or the log has failed, when {@link #append} returns; may
   * become false, or true. Called by the owner.
   */
  default boolean isImmediate() {
    return false;
  }

  /**
   * Sets the listener for commits, once, before the first record. The log calls it after {@link
   * #committed} has changed, on any thread. It may omit the call for a change within {@link
   * #append}, because the owner checks after an append.
   */
  void onCommit(Runnable listener);

  /**
   * Whether the log has room for more records. If not, the owner leaves writes in the queue, and
   * the log calls its listener when there is room again. Called by the owner.
   */
  default boolean hasRoom() {
    return true;
  }

  /**
   * Called after each cycle of the owner, which may have appended, when the owner has released its
   * token.
   */
  default void onCycleEnd() {}

  /** Ends the log of a closed partition: the listener is not called any more. */
  default void close() {}
}
