package dev.ringfetch.index.journal;

/** Is told how far a recovery has come, on the thread that recovers. */
@FunctionalInterface
public interface RecoveryProgress {
  /**
   * Called after each batch of records, about once for each MiB.
   *
   * @param bytes of snapshot and journal that were read
   * @param total bytes that are to be read; the last segments may end earlier
   * @param records that were carried out
   */
  void onProgress(long bytes, long total, long records);
}
