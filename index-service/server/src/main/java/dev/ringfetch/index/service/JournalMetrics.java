package dev.ringfetch.index.service;

import java.util.function.DoubleSupplier;

/**
 * The receiver of what a server's journal measures. Methods are called on the journal's own thread,
 * which writes nothing meanwhile, so they must be short; they must not throw.
 */
public interface JournalMetrics {
  /** Receives nothing. */
  JournalMetrics NONE = new JournalMetrics() {};

  /**
   * Called after each sync.
   *
   * @param durationNs that it took
   * @param records that it made durable
   * @param bytes of these records, with the headers
   */
  default void onSync(long durationNs, long records, long bytes) {}

  /**
   * Called once, when the journal was opened, and its indexes are there.
   *
   * @param recovery what was read
   * @param levels can be asked at any time, by any thread
   */
  default void onOpen(Recovered recovery, Levels levels) {}

  /**
   * The amounts that a start has read.
   *
   * @param durationNs that it took
   * @param records number of records, those of a snapshot included
   */
  record Recovered(long durationNs, long records) {}

  /**
   * Present values.
   *
   * @param waitingSeconds how long the oldest record has waited for its sync; 0: none waits
   * @param snapshotSeconds how old the newest snapshot is; NaN: there is none
   * @param unsnapshottedBytes bytes of the journal that a start would read besides the snapshot
   * @param failed 1 if nothing is written any more, else 0
   */
  record Levels(
      DoubleSupplier waitingSeconds,
      DoubleSupplier snapshotSeconds,
      DoubleSupplier unsnapshottedBytes,
      DoubleSupplier failed) {}
}
