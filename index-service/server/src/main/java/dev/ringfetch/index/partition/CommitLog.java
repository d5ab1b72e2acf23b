package dev.ringfetch.index.partition;

/**
 * The log of one partition's records: gives each its log sequence number (LSN), and says which are
 * committed. An LSN is the version of the entry that its record writes.
 *
 * <p>LSNs only grow, and a record is committed only with all records before it. A log that has
 * failed stays so: whether the records after the last commit survive is unknown.
 *
 * <p>The partition's owner appends, one thread at a time. Any thread calls {@link #committed}.
 */
public interface CommitLog {
  /** The largest LSN: an entry keeps its version in 48 bits. */
  long MAX_LSN = (1L << 48) - 1;

  /** The log has failed for good. */
  long FAILED = -1;

  /** {@link #append}: there is no LSN left. */
  long EXHAUSTED = -2;

  /** {@link #append}: there is no room for the record now. */
  long FULL = -3;

  /** {@link #append}: there will be room for the record; {@link #hasRoom} is false until then. */
  long LATER = -4;

  /**
   * Appends the record of a write. The log takes what it needs before it returns: kind, key, value,
   * and what the write finds (created, existed, applied). Key and value never change, so the log
   * may refer to them.
   *
   * @return the record's LSN, or {@link #FAILED}, {@link #EXHAUSTED}, {@link #FULL} or {@link
   *     #LATER}, in which case there is no record.
   */
  long append(Write write);

  /**
   * The largest committed LSN, 0 or the LSN that the log began after if there is none; {@link
   * #FAILED} once the log has failed.
   */
  long committed();

  /**
   * The largest LSN whose record survives a crash, where the log keeps records at all. Any thread.
   */
  default long durable() {
    return committed();
  }

  /** Whether each record is committed, or the log has failed, when {@link #append} returns. */
  default boolean isImmediate() {
    return false;
  }

  /**
   * Sets the listener for commits, once, before the first record. The log calls it after {@link
   * #committed} has changed, on any thread; not necessarily for a change within {@link #append}, as
   * the owner looks after it has appended.
   */
  void onCommit(Runnable listener);

  /**
   * Whether the log has room for more, so that the owner is to take writes: where it has none, they
   * wait in the queue. The log calls its listener when it has room again. The owner asks.
   */
  default boolean hasRoom() {
    return true;
  }

  /** The owner has ended a cycle, in which it may have appended, and holds its token no more. */
  default void onCycleEnd() {}

  /** Gives the log up, whose partition is closed: the listener is called no more. */
  default void close() {}
}
