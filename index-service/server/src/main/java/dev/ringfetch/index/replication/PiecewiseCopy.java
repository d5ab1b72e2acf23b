package dev.ringfetch.index.replication;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import dev.ringfetch.index.log.GroupRecords;
import dev.ringfetch.index.log.GroupSnapshot;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * A copy of one group, piece after piece: the replica's owner makes the pieces, and one other
 * thread takes them; one is handed over at a time.
 *
 * <p>A copy that is begun anew, or ends, gives up its walk over the entries.
 */
abstract class PiecewiseCopy {
  private final ReplicaContext context;
  private final Runnable drive;
  private final Runnable wake;

  // Of the owner.
  private final ArrayDeque<ByteString> made = new ArrayDeque<>();
  private @Nullable GroupSnapshot entries;

  // Handed over.
  private volatile @Nullable ByteString piece;
  private volatile String failure;
  private volatile boolean isEnded;

  /**
   * Creates the copy.
   *
   * @param drive has the replica go on
   * @param wake is run, on any thread, when there is something to take
   */
  PiecewiseCopy(ReplicaContext context, Runnable drive, Runnable wake) {
    this.context = context;
    this.drive = drive;
    this.wake = wake;
  }

  // The thread that takes.

  /** Takes the next piece: whole records; null if there is none now. */
  final @Nullable ByteString take() {
    final ByteString taken = piece;
    if (taken != null) {
      piece = null;
    }
    drive.run();
    return taken;
  }

  /** Whether nothing comes any more, and all was taken. */
  final boolean isDone() {
    return isEnded && piece == null;
  }

  /** Whether more is to come, or to be taken. */
  final boolean goesOn() {
    return !isDone() && failure == null;
  }

  /** The reason why there is no copy, for messages; null if there may be one. */
  final @Nullable String failure() {
    return failure;
  }

  /** Drives the replica. */
  final void drive() {
    drive.run();
  }

  // The owner.

  final ReplicaContext context() {
    return context;
  }

  final long nowNs() {
    return context.clock().getAsLong();
  }

  /** A record of the copy's own, with the epoch that the replica obeys. */
  final ByteString control(ReplicaCore core, int type, ByteString value) {
    return UnsafeByteOperations.unsafeWrap(
        GroupRecords.control(context.group(), type, core.gate(), value));
  }

  /** Adds a piece behind the others. */
  final void add(ByteString next) {
    made.add(next);
  }

  /** Begins to walk over the entries. */
  final void beginWalk() {
    entries = context.store().snapshot(drive);
  }

  /** The result of a step of the walk. */
  enum Walked {
    /** A piece was added. */
    PIECE,
    /** There is none now. */
    NONE,
    /** The walk has to begin anew. */
    FAILED,
    /** All was walked over. */
    ALL
  }

  /** Adds the next piece of the entries; one that has failed, or is at its end, is given up. */
  final Walked walk() {
    final ByteString next = entries.next();
    if (next == null) {
      close();
      return Walked.ALL;
    }
    if (next.isEmpty() && entries.isFailed()) {
      close();
      return Walked.FAILED;
    }
    if (next.isEmpty()) {
      return Walked.NONE;
    }
    add(UnsafeByteOperations.unsafeWrap(GroupRecords.owned(context.group(), next.toByteArray())));
    return Walked.PIECE;
  }

  /** Whether a piece lies there that is not taken yet. */
  final boolean isHanded() {
    return piece != null;
  }

  /** Hands the next piece over, after the one before was taken; false if none is made. */
  final boolean hand() {
    final ByteString next = made.poll();
    if (next == null) {
      return false;
    }
    piece = next;
    wake.run();
    return true;
  }

  /** Nothing comes any more. Idempotent; without effect on a copy that has failed. */
  final void endPieces() {
    if (!isEnded && failure == null) {
      isEnded = true;
      wake.run();
    }
  }

  /** Gives up what is made and not handed over. */
  final void clear() {
    made.clear();
  }

  /** There is no copy, for a reason. */
  final void failPieces(String reason) {
    clear();
    close();
    failure = reason;
    wake.run();
  }

  /** Gives up what is under way. */
  final void close() {
    final GroupSnapshot walked = entries;
    entries = null;
    if (walked != null) {
      walked.close();
    }
  }
}
