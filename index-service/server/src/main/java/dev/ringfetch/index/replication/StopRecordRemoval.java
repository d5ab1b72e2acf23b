package dev.ringfetch.index.replication;

import java.io.IOException;
import java.util.function.LongSupplier;
import org.agrona.ErrorHandler;

/**
 * The removal of the records of orderly stops that count nowhere any more. Where it fails, it is
 * tried again after a while, and the groups wait.
 *
 * <p>Of the thread that works.
 */
final class StopRecordRemoval {
  /** After a removal that failed, the next one waits so long. */
  private static final long RETRY_NS = 1_000_000_000;

  private final StopRecords records;
  private final LongSupplier clock;
  private final ErrorHandler errors;
  private boolean isLate;
  private long notBeforeNs; // if late

  /**
   * Creates it.
   *
   * @param records null if there are none
   * @param clock in nanoseconds
   */
  StopRecordRemoval(StopRecords records, LongSupplier clock, ErrorHandler errors) {
    this.records = records;
    this.clock = clock;
    this.errors = errors;
  }

  /** Removes the record of a replica's group, unless that has just failed; whether it is gone. */
  boolean remove(Replica replica) {
    final long nowNs = clock.getAsLong();
    if (isLate && nowNs - notBeforeNs < 0) {
      return false;
    }
    try {
      records.delete(replica.group());
      isLate = false;
      replica.onStopRecordRemoved();
      return true;
    } catch (IOException e) {
      isLate = true;
      notBeforeNs = nowNs + RETRY_NS;
      errors.onError(
          new IOException(
              "the index waits until what an earlier process has left is removed: group="
                  + replica.group(),
              e));
      return false;
    }
  }
}
