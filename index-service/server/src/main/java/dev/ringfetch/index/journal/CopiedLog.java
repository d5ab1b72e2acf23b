package dev.ringfetch.index.journal;

/**
 * A sequence of encoded records on its way into the journal: those of a replicated group. Records
 * are counted, as their LSNs belong to several partitions.
 *
 * <p>One thread at a time appends; any thread may call the other methods.
 */
public final class CopiedLog {
  private final Journal journal;
  private final JournalSource source;
  private long appended;

  CopiedLog(Journal journal, Runnable listener) {
    this.journal = journal;
    source = new JournalSource(journal, false, 0, listener).counting();
    journal.add(source);
  }

  /**
   * Appends a copy of a record.
   *
   * @param length aligned
   * @param isUrgent whether it is synced as soon as possible, with all records before it; else
   *     after the journal's interval
   * @return false if there is no room now, or the journal has failed
   */
  public boolean append(byte[] bytes, int offset, int length, boolean isUrgent) {
    if (source.append(bytes, offset, length, isUrgent) != 0) {
      return false;
    }
    appended++;
    return true;
  }

  /** Number of records that were appended. */
  public long appended() {
    return appended;
  }

  /** Number of the durable records, which are the first ones. */
  public long durable() {
    return source.durable();
  }

  /** Whether the journal has failed: nothing becomes durable any more. */
  public boolean isFailed() {
    return journal.isFailed();
  }

  /** Whether the journal cannot get more room because the disk is full. */
  public boolean isShort() {
    return journal.obstacle() != null;
  }

  /** Whether a record of this length and type has no room because the disk is full. */
  public boolean isFull(int length, int type) {
    return isShort() && journal.isShortOf(length, type);
  }

  /** Ends the sequence: the listener is not called any more. */
  public void close() {
    journal.remove(source);
  }
}
