package dev.ringfetch.index.log;

/**
 * The records of a replica's group on disk: a sequence whose durable beginning survives the
 * process.
 *
 * <p>The replica's owner uses it; {@link #durable}, {@link #isFailed}, {@link #isShort}, {@link
 * #isFull} and {@link #isOverQuota} any thread. No method waits.
 */
public interface GroupDisk {
  /**
   * Appends a copy of a record.
   *
   * @param length aligned
   * @param isUrgent whether it becomes durable as soon as possible, with all records before it;
   *     else after the node's interval
   * @return false if there is no room now, and nothing was done
   */
  boolean append(byte[] bytes, int offset, int length, boolean isUrgent);

  /** Number of records that were appended. */
  long appended();

  /** Number of the durable records, which are the first ones. */
  long durable();

  /** Whether nothing becomes durable any more. */
  boolean isFailed();

  /** Whether it cannot get more room because the disk is full, not slow. */
  boolean isShort();

  /**
   * Whether records of this length have no room because the disk is full: those of puts first.
   *
   * @param type of the record, as RecordDescriptor has it
   */
  boolean isFull(int length, int type);

  /** Whether its directory exceeds its quota: it takes all records, and the leader none of puts. */
  default boolean isOverQuota() {
    return false;
  }

  /**
   * Sets the listener that runs, on any thread, when more records are durable, or the disk has
   * failed. Called once.
   */
  void onChange(Runnable listener);

  /** Ends the use of the disk. */
  void close();
}
