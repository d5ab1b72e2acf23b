package dev.ringfetch.index.journal;

/**
 * The counts of a journal since it was opened. The journal's thread counts; any thread reads, each
 * number by itself.
 */
public final class JournalCounts {
  private volatile long syncs;
  private volatile long syncNs;
  private volatile long longestSyncNs;
  private volatile long records;
  private volatile long bytes;
  private volatile long waitingSinceNs;
  private volatile boolean waiting;

  JournalCounts() {}

  /** Notes that records wait; from this moment on if none has waited before. */
  void waits(long nowNs) {
    if (!waiting) {
      waitingSinceNs = nowNs;
      waiting = true;
    }
  }

  /** Notes that no record waits. */
  void isIdle() {
    waiting = false;
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // one thread counts
  void synced(long durationNs, long newRecords, long newBytes) {
    syncs++;
    syncNs += durationNs;
    longestSyncNs = Math.max(longestSyncNs, durationNs);
    records += newRecords;
    bytes += newBytes;
  }

  /** Number of syncs. */
  public long syncs() {
    return syncs;
  }

  /** Nanoseconds that all syncs took together. */
  public long syncNs() {
    return syncNs;
  }

  /** Nanoseconds that the longest sync took. */
  public long longestSyncNs() {
    return longestSyncNs;
  }

  /** Number of records that were synced. */
  public long records() {
    return records;
  }

  /** Bytes that were written and synced, headers included. */
  public long bytes() {
    return bytes;
  }

  /** How long the oldest record has waited for its sync, in nanoseconds; 0: none waits. */
  public long waitingNs(long nowNs) {
    final long sinceNs = waitingSinceNs;
    return waiting ? Math.max(0, nowNs - sinceNs) : 0;
  }
}
