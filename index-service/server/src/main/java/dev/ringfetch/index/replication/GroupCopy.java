package dev.ringfetch.index.replication;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.log.GroupRecovery;
import dev.ringfetch.index.log.LogJournal;
import dev.ringfetch.index.log.RecordLog;
import java.util.ArrayDeque;

/**
 * The copy of one group for a snapshot of a node's disk, piece after piece: everything that the
 * journal had before a mark, which is appended when the copy begins. {@link GroupRecovery} reads
 * it, and then the journal behind the mark.
 *
 * <pre>
 *  the replica            records
 *  has the log            BEGIN, entries, EPOCH with the position of the last record that the store
 *                         had at the mark, the log from there up to the mark, MARK, COMMIT
 *  gets a snapshot        BEGIN, the entries that have come, MARK: the rest follows in the journal
 *  counts nowhere         BEGIN, MARK: whom it obeyed
 *  was dropped            END
 * </pre>
 *
 * <p>The entries are walked while the replica goes on, so they may have the effect of records up to
 * the position of COMMIT, all of which are committed. If records are given up meanwhile, or the
 * store gets another content, as the replica begins to lead or a snapshot has come, the copy begins
 * anew in the same file: BEGIN gives up what was before.
 */
public final class GroupCopy extends PiecewiseCopy {
  /** Limit of begins, after which the copy fails; a later snapshot tries again. */
  private static final int ATTEMPTS = 8;

  /** Time without a step after which the copy fails. */
  static final long PATIENCE_NS = 10_000_000_000L;

  private enum State {
    /** Is to set the mark. */
    BEGINNING("its disk has no room"),
    /** Walks over the entries. */
    WALKING("what it has is not committed"),
    /** Waits until the log is on its way to the disk as far as the entries are. */
    CATCHING_UP("its disk has no room"),
    ENDED("");

    /** The reason for a long pause between steps, for messages. */
    private final String obstacle;

    State(String obstacle) {
      this.obstacle = obstacle;
    }
  }

  // Of the owner.
  private State state = State.BEGINNING;
  private int attempts;
  private long mark;
  private long generation;
  private boolean isWhole;
  private ArrayDeque<ByteString> tail = new ArrayDeque<>();
  private long steppedNs; // the last step, or later: a piece was taken
  private boolean wasHanded; // a piece, since the last step
  private long committed;

  // Of both threads.
  private volatile long needed = Long.MAX_VALUE; // number of the disk's records

  /**
   * Creates the copy.
   *
   * @param drive has the replica go on
   * @param wake is run, on any thread, when there is something to take
   */
  GroupCopy(ReplicaContext context, Runnable drive, Runnable wake) {
    super(context, drive, wake);
    steppedNs = nowNs();
  }

  // The thread that takes.

  /** Whether the disk has all records that the copy needs. */
  boolean isDurable() {
    return context().disk().durable() >= needed;
  }

  // The owner.

  /**
   * Makes pieces as far as there is room for them. What that throws ends the copy, and not the
   * replica, which is well: what it has was not changed.
   *
   * @param isDropped whether the group was
   * @param isForgotten whether the records of this directory count nowhere any more
   */
  void work(ReplicaCore core, boolean isDropped, boolean isForgotten) {
    try {
      make(core, isDropped, isForgotten);
    } catch (RuntimeException | OutOfMemoryError e) {
      context().errors().onError(e);
      fail("it cannot be copied: " + e);
    }
  }

  private void make(ReplicaCore core, boolean isDropped, boolean isForgotten) {
    boolean goesOn = true;
    if (wasHanded && !isHanded()) { // how long it lay there is not the replica's
      wasHanded = false;
      steppedNs = nowNs();
    }
    while (goesOn && !isHanded()) {
      if (hand()) {
        wasHanded = true;
      } else if (state == State.ENDED) {
        endPieces();
        goesOn = false;
      } else if (isDropped) {
        add(core, RecordDescriptor.GROUP_END, ByteString.EMPTY);
        end(0);
      } else if (core.state() == ReplicaState.STOPPED || core.isDiskFailed()) {
        fail("the replica has ended");
        goesOn = false;
      } else {
        goesOn = step(core, isForgotten);
        notice(goesOn);
      }
    }
  }

  /** Fails where nothing goes on for long: other groups' records are kept meanwhile. */
  private void notice(boolean hasStepped) {
    final long nowNs = nowNs();
    if (hasStepped) {
      steppedNs = nowNs;
    } else if (state != State.ENDED && nowNs - steppedNs > PATIENCE_NS) {
      fail(state.obstacle);
    }
  }

  private boolean step(ReplicaCore core, boolean isForgotten) {
    if (state != State.BEGINNING && generation != core.generation()) {
      close();
      state = State.BEGINNING;
    }
    return switch (state) {
      case BEGINNING -> begin(core, isForgotten);
      case WALKING -> walk(core);
      case CATCHING_UP -> catchUp(core);
      case ENDED -> false;
    };
  }

  private boolean begin(ReplicaCore core, boolean isForgotten) {
    if (core.begun() == null) { // the disk has nothing of it
      end(0);
      return true;
    }
    final boolean hasStore = core.state() != ReplicaState.NONE;
    if (!hasStore && core.isOnDiskAlone() && !isForgotten) {
      fail("its records are on the disk alone");
      return false;
    }
    if (attempts == ATTEMPTS) {
      fail("it changes again and again");
      return false;
    }
    mark = context().nonces().getAsLong() | 1;
    final LogJournal disk = core.disk();
    if (isAhead(core, core.applied()) || !disk.mark(core.gate(), mark)) {
      return false;
    }
    attempts++;
    generation = core.generation();
    add(core, RecordDescriptor.GROUP_BEGIN, core.begun().toByteString());
    if (!hasStore) {
      addMark(core);
      end(disk.appended());
      return true;
    }
    isWhole = disk.isWhole();
    tail = new ArrayDeque<>();
    if (isWhole) {
      takeTail(core);
    }
    beginWalk();
    state = State.WALKING;
    return true;
  }

  /** Whether the log is on its way to the disk, and not as far as a position. */
  private static boolean isAhead(ReplicaCore core, long position) {
    return core.disk().isWhole() && core.disk().written() < position;
  }

  /** Keeps the log from what the store has up to the mark: its bytes never change. */
  private void takeTail(ReplicaCore core) {
    final long applied = core.applied();
    tail.add(control(core, RecordDescriptor.GROUP_EPOCH, RecordDescriptor.value(applied)));
    final RecordLog.Cursor cursor = core.log().new Cursor();
    cursor.seek(applied);
    while (cursor.position() < core.disk().written()) {
      tail.add(cursor.takeTo(core.disk().written()));
    }
  }

  private boolean walk(ReplicaCore core) {
    final Walked walked = walk();
    if (walked == Walked.ALL) {
      committed = core.applied(); // all that was walked over is
      state = State.CATCHING_UP;
    } else if (walked == Walked.FAILED) {
      state = State.BEGINNING;
    }
    return walked != Walked.NONE;
  }

  private boolean catchUp(ReplicaCore core) {
    if (isAhead(core, committed)) {
      return false;
    }
    tail.forEach(this::add);
    tail.clear();
    addMark(core);
    if (isWhole) {
      add(core, RecordDescriptor.GROUP_COMMIT, RecordDescriptor.value(committed));
    }
    end(core.disk().appended());
    return true;
  }

  private void addMark(ReplicaCore core) {
    add(core, RecordDescriptor.GROUP_MARK, RecordDescriptor.value(mark));
  }

  private void add(ReplicaCore core, int type, ByteString value) {
    add(control(core, type, value));
  }

  private void end(long neededRecords) {
    needed = neededRecords;
    state = State.ENDED;
  }

  private void fail(String reason) {
    state = State.ENDED;
    tail.clear();
    failPieces(reason);
  }
}
