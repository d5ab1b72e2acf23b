package dev.ringfetch.index.journal;

/**
 * A sequence of records on its way into the journal that were made elsewhere, and keep their bytes:
 * those of a replicated group. They are counted, as their LSNs are of several partitions.
 *
 * <p>One thread at a time appends; any thread asks.
 */
public final class CopiedLog {
  private final Journal journal;
  private final JournalSource source;
  private long appended;

  CopiedLog(Journal journal, Runnable listener) {
    this.journal = journal;
    source = new JournalSource(journal, true, 0, listener).counting();
    journal.add(source);
  }

  /**
   * Appends a copy of a record.
   *
   * @param length aligned
   * @return false if there is no room now, or the journal has failed
   */
  public boolean append(byte[] bytes, int offset, int length) {
    if (source.append(bytes, offset, length) != 0) {
      return false;
    }
    appended++;
    return true;
  }

  /** Number of records that were appended. */
  public long appended() {
    return appended;
  }

  /** How many of them are durable, the first ones. */
  public long durable() {
    return source.durable();
  }

  /** Whether the journal has failed: nothing becomes durable any more. */
  public boolean isFailed() {
    return journal.isFailed();
  }

  /** Whether the journal gets no room beyond what it has: the disk is full. */
  public boolean isShort() {
    return journal.obstacle() != null;
  }

  /** Ends: the listener is called no more. */
  public void close() {
    journal.remove(source);
  }
}
