package dev.ringfetch.index.journal;

import java.io.IOException;

/**
 * What a snapshot is made of: the catalog, and the entries of all partitions, while writers go on.
 *
 * <p>These rules make it right. {@link #begin} takes the catalog's state, with the LSN of its last
 * record. The LSN of a partition's {@code PARTITION} record is taken within {@link #add}, thus
 * after the begin, and the walk over its entries begins when the store has applied all records up
 * to it; each key that is there throughout the walk comes at least once. {@link #isDurable} is true
 * when all records are durable that can be in what was added, and the removals of all indexes that
 * are not there as a whole.
 *
 * <p>One thread at a time calls these methods.
 */
public interface SnapshotSource {
  /** How a step of {@link #add} has ended. */
  enum Progress {
    /** There is more to add. */
    MORE,
    /** There is nothing to add now: the source has to wait for others. */
    WAITING,
    /** All was added. */
    DONE
  }

  /** Begins a snapshot anew; whatever there was of an earlier one is given up. */
  void begin();

  /**
   * Adds records, in a bounded step, until the sink is full or nothing is to be added now.
   *
   * @throws IOException if the snapshot cannot be made, or the sink's disk fails
   */
  Progress add(SnapshotSink sink) throws IOException;

  /** Whether the journal is durable as far as what was added needs it; looked at after DONE. */
  boolean isDurable();

  /** LSN of the catalog's last record that is in the snapshot. */
  long catalogLsn();

  /** The largest number an index ever had. */
  long newestIndex();

  /**
   * Notes that segments of the journal are about to be removed, as a snapshot has what they have.
   */
  void removing();
}
