package dev.ringfetch.index.log;

/**
 * Where a replica keeps its group's records on disk: a sequence that survives the process as far as
 * it is durable, and of which the first records survive if any do.
 *
 * <p>The replica's owner uses it; {@link #durable} and {@link #isFailed} any thread. No method
 * waits.
 */
public interface GroupDisk {
  /**
   * Appends a copy of a record.
   *
   * @param length aligned
   * @return false if there is no room now, and nothing was done
   */
  boolean append(byte[] bytes, int offset, int length);

  /** Number of records that were appended. */
  long appended();

  /** How many of them are durable: the first ones. */
  long durable();

  /** Whether nothing becomes durable any more. */
  boolean isFailed();

  /** Whether it gets no room beyond what it has: it is full, not slow. Any thread. */
  boolean isShort();

  /** Sets what is run, on any thread, when more is durable, or the disk has failed. Once. */
  void onChange(Runnable listener);

  /** Ends the use of the disk. */
  void close();
}
