package dev.ringfetch.index.replication;

import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The copies of a replica that its node has begun: one for a snapshot of the disk, and one as the
 * process ends in order.
 *
 * <p>The replica's owner only.
 */
final class ReplicaCopies {
  private final ReplicaCore core;
  private final BooleanSupplier isForgotten;
  private final Runnable end;
  private @Nullable GroupCopy snapshot; // null: none was begun
  private @Nullable StopCopy stop; // null: the process does not end
  private boolean isDropped;

  /**
   * Creates the copies, of which none was begun.
   *
   * @param isForgotten whether the records of this directory count nowhere any more
   * @param end ends the replica for good
   */
  ReplicaCopies(ReplicaCore core, BooleanSupplier isForgotten, Runnable end) {
    this.core = core;
    this.isForgotten = isForgotten;
    this.end = end;
  }

  /** Begins a copy for a snapshot of the disk, in the place of one that was begun before. */
  void begin(GroupCopy begun) {
    if (snapshot != null) {
      snapshot.close();
    }
    snapshot = begun;
  }

  /** Begins to end the replica in order. */
  void begin(StopCopy begun) {
    stop = begun;
  }

  /** The group was dropped. */
  void drop() {
    isDropped = true;
  }

  /** Whether a step is due. */
  boolean goOn() {
    return (snapshot != null && snapshot.goesOn()) || (stop != null && stop.goesOn());
  }

  void workOnSnapshot() {
    if (snapshot != null) {
      snapshot.work(core, isDropped, isForgotten.getAsBoolean());
    }
  }

  /** Works on the copy after which the replica ends; it begins when an earlier one is not void. */
  void workOnStop(@Nullable Leader leader, EarlierStopRecord record) {
    if (stop != null) {
      if (leader != null && leader.configuration().getMembersCount() == 1) {
        stop.endWrites(); // no other node takes them, and they would outrun the copy
      }
      stop.work(core, !record.isVoid(), end);
    }
  }
}
