package dev.ringfetch.index.journal;

/** Receives the syncs of a journal, on the journal's thread. */
@FunctionalInterface
public interface SyncListener {
  /**
   * Called after a sync.
   *
   * @param durationNs that it took
   * @param records that it made durable
   * @param bytes of these records and of the batches' headers
   */
  void onSync(long durationNs, long records, long bytes);
}
