package dev.ringfetch.index.direct;

import dev.ringfetch.index.filter.EntryFilter;
import dev.ringfetch.index.layout.EntrySink;
import dev.ringfetch.index.layout.ReadResult;
import io.grpc.Status;

/**
 * What a scan and a search have in common: a number of entries that are still to come, out of one
 * incarnation of an index. Used by one thread at a time.
 */
abstract sealed class DirectReading permits DirectScan, DirectSearch {
  private final boolean keysOnly;
  private final EntryFilter filter; // null: all
  private long left; // entries still to deliver, as an unsigned number; -1 for all
  private long incarnation; // 0: nothing was read yet
  private boolean done;

  /**
   * Begins.
   *
   * @param limit the most entries, as an unsigned number; 0 for all
   * @param filter the condition on the entries; null for all
   */
  DirectReading(boolean keysOnly, long limit, EntryFilter filter) {
    this.keysOnly = keysOnly;
    this.filter = filter;
    left = limit == 0 ? -1 : limit;
  }

  /** Reads on in memory; ABSENT if no entry is left. */
  abstract ReadResult read(GrantedIndex granted, EntrySink sink);

  /** Whether memory can be read for it; if not, a call reports what is not legal. */
  abstract boolean isLegal();

  /** Whether an index can be read in memory for it. */
  abstract boolean fits(GrantedIndex granted);

  /** Whether no entry is left. */
  public boolean isDone() {
    return done;
  }

  /** Checks that a part has the same incarnation of the index as the parts before, and notes it. */
  void checkIncarnation(long other) {
    if (!isOf(other)) {
      throw Status.ABORTED
          .withDescription("the index was dropped since the scan's begin: begin again")
          .asRuntimeException();
    }
    incarnation = other;
  }

  /** Whether it may continue in an index: it has begun there, or not at all. */
  boolean isOf(long other) {
    return incarnation == 0 || incarnation == other;
  }

  /** Notes the incarnation of the index that is read. */
  void incarnation(long of) {
    incarnation = of;
  }

  /** The incarnation of the index, as in answers; 0 before the first entries were read. */
  public long incarnation() {
    return incarnation;
  }

  boolean isKeysOnly() {
    return keysOnly;
  }

  /** The condition on the entries; null for all. */
  EntryFilter filter() {
    return filter;
  }

  /** Number of entries still to deliver, as an unsigned number; -1 for all. */
  long left() {
    return left;
  }

  /** Number of entries still to deliver, at most {@code most}. */
  int room(int most) {
    return Long.compareUnsigned(left, most) < 0 ? (int) left : most;
  }

  /** Counts an entry that was given out. */
  void count() {
    if (left != -1) {
      left--;
      done |= left == 0;
    }
  }

  /** Ends: no entry is left. */
  void end() {
    done = true;
  }
}
