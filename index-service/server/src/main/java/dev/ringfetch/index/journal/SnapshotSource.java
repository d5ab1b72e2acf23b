package dev.ringfetch.index.journal;

import java.io.IOException;

/**
 * The source of a snapshot's records: the catalog, and the entries of all partitions, while writers
 * continue.
 *
 * <p>The following rules make a snapshot correct. {@link #begin} takes the catalog's state, with
 * the LSN of its last record. The LSN of a partition's {@code PARTITION} record is taken within
 * {@link #add}, thus after the begin, and the walk over its entries begins when the store has
 * applied all records up to it; each key that exists during the whole walk comes at least once.
 * {@link #isDurable} is true when all records whose effects may have been added are durable, and so
 * are the removals of all indexes that were added only in part.
 *
 * <p>One thread at a time calls these methods.
 */
public interface SnapshotSource {
  /** How a step of {@link #add} has ended. */
  enum Progress {
    /** There is more to add. */
    MORE,
    /** Nothing can be added now: the source waits for others. */
    WAITING,
    /** Everything was added. */
    DONE
  }

  /** Begins a new snapshot, and gives up an earlier one. */
  void begin();

  /**
   * Adds records in a bounded step, until the sink is full or nothing can be added now.
   *
   * @throws IOException if the snapshot cannot be made, or the sink's disk fails
   */
  Progress add(SnapshotSink sink) throws IOException;

  /** Whether the journal is durable as far as the added records require; checked after DONE. */
  boolean isDurable();

  /** LSN of the catalog's last record that is in the snapshot. */
  long catalogLsn();

  /** The largest number an index ever had. */
  long newestIndex();

  /**
   * Notes that segments of the journal are about to be removed, as a snapshot has their content.
   */
  void removing();
}
