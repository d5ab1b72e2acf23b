package dev.ringfetch.index.journal;

/** A listener of the syncs of a journal, called on the journal's thread. */
@FunctionalInterface
public interface SyncListener {
  /**
   * Called after a sync.
   *
   * @param durationNs of the sync
   * @param records that became durable
   * @param bytes of these records and of the batches' headers
   */
  void onSync(long durationNs, long records, long bytes);
}
