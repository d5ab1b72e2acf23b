package dev.ringfetch.index.replication;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.log.RecordLog;
import dev.ringfetch.index.v1.Configuration;

/**
 * The copy of a group in memory that a process writes when it ends in order, piece after piece:
 * BEGIN, entries, EPOCH with the position from which on the log follows, the log, COMMIT, STOP.
 *
 * <p>The entries are walked while the replica goes on. Then, in one step, the replica closes its
 * gate, takes what was placed before that, and ends: the log up to there has each record that any
 * leader has counted or counts yet by this process. So the record makes its directory as complete
 * as the process was.
 *
 * <p>Of a group on the disk there is nothing to be copied: the replica ends when the disk has got
 * what was committed without it.
 *
 * <p>Whatever ends the copy ends the replica: one that went on could make the records of others
 * void, and would end without one itself.
 */
final class StopCopy extends PiecewiseCopy {
  /** After so many begins the copy fails. */
  private static final int ATTEMPTS = 8;

  /** After so long without a step the copy fails: others wait for the end of the process. */
  static final long PATIENCE_NS = 5_000_000_000L;

  private enum State {
    BEGINNING,
    WALKING,
    ENDED
  }

  // Of the owner.
  private State state = State.BEGINNING;
  private int attempts;
  private long generation;
  private long begin; // position that the entries have at least
  private long target = -1; // position that the disk is to have; negative: not known yet
  private boolean endsWrites;
  private long unpassed = Long.MAX_VALUE; // records up to there that the disk has not got
  private long steppedNs;

  // Of the thread that takes.
  private volatile boolean isGivenUp;

  /**
   * Creates the copy.
   *
   * @param drive has the replica go on
   * @param wake is run, on any thread, when there is something to take
   */
  StopCopy(ReplicaContext context, Runnable drive, Runnable wake) {
    super(context, drive, wake);
    steppedNs = nowNs();
  }

  // The thread that takes.

  /** Fails the copy, whose pieces cannot be stored. */
  void giveUp() {
    isGivenUp = true;
    drive();
  }

  // The owner.

  /** Has the store refuse writes, for a leader without members. */
  void endWrites() {
    context().store().endWrites();
    endsWrites = true;
  }

  /**
   * Makes pieces as far as there is room for them. What that throws ends the replica in order, and
   * not the node's stop.
   *
   * @param mayBegin whether no earlier record is to be removed first
   * @param stop ends the replica
   */
  void work(ReplicaCore core, boolean mayBegin, Runnable stop) {
    try {
      if (isGivenUp) {
        giveUp(stop);
      } else {
        if (core.serving() != null) {
          core.serving().endAlone(core.log()); // the copy ends with the log
        }
        make(core, mayBegin, stop);
      }
    } catch (RuntimeException | OutOfMemoryError e) {
      context().errors().onError(e);
      fail(stop, "it cannot be copied: " + e);
    }
  }

  private void giveUp(Runnable stop) {
    clear();
    if (state != State.ENDED) {
      fail(stop, "it cannot be kept");
    }
  }

  private void make(ReplicaCore core, boolean mayBegin, Runnable stop) {
    final long nowNs = nowNs();
    boolean goesOn = true;
    while (goesOn && !isHanded()) {
      if (hand()) {
        steppedNs = nowNs;
      } else if (state == State.ENDED) {
        endPieces();
        goesOn = false;
      } else {
        goesOn = mayBegin && step(core, stop);
        steppedNs = goesOn ? nowNs : steppedNs;
      }
    }
    if (state != State.ENDED && nowNs - steppedNs > PATIENCE_NS) {
      fail(
          stop,
          core.hasDisk()
              ? "its disk does not take what was answered: records=" + unpassed
              : "it does not go on");
    }
  }

  private boolean step(ReplicaCore core, Runnable stop) {
    if (core.hasDisk()) {
      return passOn(core, stop);
    }
    if (attempts == 0 && (!isComplete(core) || core.isRestarted())) {
      state = State.ENDED; // without a record; or that of the process before stands
      stop.run();
      return true;
    }
    if (!isComplete(core)) {
      fail(stop, "it is complete no more");
    } else if (core.log().bytes() > context().limits().tail()) {
      fail(stop, "more is written meanwhile than it keeps");
    } else if (state == State.BEGINNING || generation != core.generation()) {
      begin(core, stop);
      return state == State.WALKING;
    } else {
      return walk(core, stop);
    }
    return false;
  }

  /**
   * Ends the replica once the disk has what was there at first; returns whether less is left. Other
   * members have what comes later, without end; where writes have ended, that is what was under
   * way.
   */
  private boolean passOn(ReplicaCore core, Runnable stop) {
    core.journal();
    final long before = unpassed;
    target = target < 0 || endsWrites ? core.log().end() : target;
    unpassed =
        core.writesLater() && core.disk().isWhole()
            ? Math.max(0, target - core.disk().written())
            : 0;
    if (unpassed == 0) {
      state = State.ENDED;
      stop.run();
    }
    return unpassed < before;
  }

  private static boolean isComplete(ReplicaCore core) {
    return core.state() != ReplicaState.NONE
        && core.state() != ReplicaState.JOINING
        && core.state() != ReplicaState.STOPPED;
  }

  private void begin(ReplicaCore core, Runnable stop) {
    close();
    state = State.BEGINNING;
    if (attempts++ == ATTEMPTS) {
      fail(stop, "it changes again and again");
      return;
    }
    generation = core.generation();
    begin = core.applied();
    core.keepFrom(begin);
    add(core, RecordDescriptor.GROUP_BEGIN, core.begun().toByteString());
    beginWalk();
    state = State.WALKING;
  }

  private boolean walk(ReplicaCore core, Runnable stop) {
    final Walked walked = walk();
    if (walked == Walked.ALL) {
      end(core, stop);
    } else if (walked == Walked.FAILED) {
      state = State.BEGINNING;
    }
    return walked != Walked.NONE;
  }

  /** Ends the replica, and takes the log as it is then. */
  private void end(ReplicaCore core, Runnable stop) {
    if (!core.closeForGood()) {
      fail(stop, "what was placed is lost");
      return;
    }
    add(core, RecordDescriptor.GROUP_EPOCH, RecordDescriptor.value(begin));
    final RecordLog.Cursor cursor = core.log().new Cursor();
    cursor.seek(begin);
    final long end = core.log().end();
    while (cursor.position() < end) {
      add(cursor.takeTo(end));
    }
    final long committed = Math.min(core.commit(), end);
    add(core, RecordDescriptor.GROUP_COMMIT, RecordDescriptor.value(committed));
    final Configuration processes =
        Configuration.newBuilder()
            .addAllMembers(core.predecessors())
            .addMembers(Configurations.member(context().self()))
            .build();
    add(core, RecordDescriptor.GROUP_STOP, processes.toByteString());
    state = State.ENDED;
    stop.run();
  }

  private void add(ReplicaCore core, int type, ByteString value) {
    add(control(core, type, value));
  }

  private void fail(Runnable stop, String reason) {
    state = State.ENDED;
    close();
    stop.run();
    failPieces(reason);
  }
}
