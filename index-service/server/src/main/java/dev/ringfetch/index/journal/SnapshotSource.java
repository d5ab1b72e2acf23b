package dev.ringfetch.index.journal;

import java.io.IOException;

/**
 * The source of a snapshot's records: those of all groups, while writers continue.
 *
 * <p>The following rules make a snapshot correct. {@link #begin} takes the groups that there are; a
 * later one begins behind the snapshot's position in the journal. The LSN of a partition's {@code
 * PARTITION} record is taken within {@link #add}, thus after the begin, and the walk over its
 * entries begins when the store has applied all records up to it; each key that exists during the
 * whole walk comes at least once. {@link #isDurable} is true when all records whose effects may
 * have been added are durable.
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

  /**
   * Notes that segments of the journal are about to be removed, as a snapshot has their content.
   */
  void removing();
}
