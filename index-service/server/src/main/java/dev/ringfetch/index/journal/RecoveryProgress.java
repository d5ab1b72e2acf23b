package dev.ringfetch.index.journal;

/** A listener of the progress of a recovery, called on the recovering thread. */
@FunctionalInterface
public interface RecoveryProgress {
  /**
   * Called after each batch of records, about once for each MiB.
   *
   * @param bytes of snapshot and journal read so far
   * @param total bytes to read; the last segments may end earlier
   * @param records processed so far
   */
  void onProgress(long bytes, long total, long records);
}
