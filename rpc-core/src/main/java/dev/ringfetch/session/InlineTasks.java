package dev.ringfetch.session;

import dev.ringfetch.counters.Counter;
import org.agrona.concurrent.NanoClock;

/**
 * The tasks that a poller runs itself, between its rounds. Meanwhile its duty is nobody's, and the
 * {@link InlineBackup} looks whether it is so for long: then it takes the duty, and the thread that runs
 * the task finds afterwards that it is the poller no longer.
 *
 * <p>Nothing is taken in while no standby looks. It is woken when enough is offered within a
 * millisecond for its looks to cost less than the hand-overs that they spare.
 *
 * <p>Belongs to the holder of the duty, but for what {@link InlineBackup} asks.
 */
final class InlineTasks {
  /** {@link #run} has returned in a thread that has the duty no longer. */
  static final int LOST = -1;

  /** Over which calls are counted to find whether it is worth while to look, in nanoseconds. */
  static final long WINDOW_NS = 1_000_000;

  /** After so long the sessions are looked after again, though there are tasks left. */
  static final long BUDGET_NS = 50_000;

  private final Poller poller;
  private final PollerLease lease;
  private final NanoClock clock;
  private final int leastPerWindow;
  private final InlineBackup standby;

  // Sessions with tasks, each once, in the order of their turns.
  private Session first;
  private Session last;

  private long windowNs;
  private int offered; // in the window

  private InlineTask running;

  private volatile long lentAtNs;

  InlineTasks(Poller poller, OwnerToken token, PollerLease lease, SessionContext context) {
    this.poller = poller;
    this.lease = lease;
    this.clock = context.clock();
    this.leastPerWindow = context.inlinePerMs();
    final int leastToLook = (leastPerWindow + 1) / 2; // not to and fro
    this.standby = new InlineBackup(this, poller, token, lease, clock, leastToLook);
  }

  InlineBackup standby() {
    return standby;
  }

  /** Takes a task of a session, if it may: see {@link Poller#offer}. */
  boolean offer(Session session, InlineTask task) {
    if (!standby.looks() && !wakeStandby()) {
      return false;
    }
    if (session.firstInLine == null) {
      session.firstInLine = task;
      addTurn(session);
    } else {
      session.lastInLine.nextInLine(task);
    }
    session.lastInLine = task;
    return true;
  }

  private void addTurn(Session session) {
    if (first == null) {
      first = session;
    } else {
      last.nextInLine = session;
    }
    last = session;
  }

  private boolean wakeStandby() {
    final long now = clock.nanoTime();
    if (now - windowNs >= WINDOW_NS) {
      windowNs = now;
      offered = 0;
    }
    return ++offered >= leastPerWindow && standby.summon();
  }

  boolean isEmpty() {
    return first == null;
  }

  /**
   * Runs tasks, one of each session in turn.
   *
   * @return how many, or {@link #LOST}.
   */
  int run() {
    if (standby.thread() == null) { // nobody would take the duty over
      return handOver();
    }
    final long startNs = clock.nanoTime();
    long nowNs = startNs;
    int done = 0;
    while (first != null && nowNs - startNs < BUDGET_NS) {
      final InlineTask task = next();
      poller.tally().add(Counter.POLLER_CALLS_INLINE, 1);
      if (!runLent(task, nowNs)) {
        return LOST;
      }
      Thread.interrupted(); // the task's, not the poller's
      final long endNs = clock.nanoTime();
      task.ranInline(endNs - nowNs);
      nowNs = endNs;
      done++;
    }
    return done;
  }

  private InlineTask next() {
    final Session session = first;
    first = session.nextInLine;
    session.nextInLine = null;
    final InlineTask task = session.firstInLine;
    session.firstInLine = task.nextInLine();
    task.nextInLine(null);
    if (session.firstInLine != null) {
      addTurn(session);
    } else {
      session.lastInLine = null;
    }
    return task;
  }

  /**
   * Runs a task while the duty is nobody's. False when it is another thread's afterwards. One that
   * was overtaken may have it back, if just then the other one runs a task: then that one loses it.
   */
  private boolean runLent(InlineTask task, long nowNs) {
    running = task;
    lentAtNs = nowNs;
    try {
      lease.lendInline();
      standby.lent();
      task.runInline();
    } catch (Throwable t) { // a fault of memory that is not there any more comes up anywhere
      Callbacks.report(t);
    }
    return lease.takeBack();
  }

  /** Since when the duty is lent, if it is for a task of these. Any thread. */
  long lentAtNs() {
    return lentAtNs;
  }

  /** The duty was taken over from a thread that runs a task: that one is told of. */
  void takenOver(long lentNs, boolean waits) {
    poller.tally().add(Counter.POLLER_TAKEOVERS, 1);
    if (lease.wasInline() && lentNs == lentAtNs) { // otherwise it has only just begun
      running.overran(waits);
    }
    handOver();
  }

  /** Lets go of all tasks: they run elsewhere. Returns how many. */
  int handOver() {
    int done = 0;
    while (first != null) {
      final InlineTask task = next();
      poller.tally().add(Counter.POLLER_CALLS_MOVED, 1);
      try {
        task.handOver();
      } catch (Throwable t) { // the next one is handed over all the same
        Callbacks.report(t);
      }
      done++;
    }
    return done;
  }

  /** Calls that were run so far. Any thread. */
  long calls() {
    return poller.tally().get(Counter.POLLER_CALLS_INLINE);
  }

  /** The poller has ended: the standby ends, too. Any thread. */
  void end() {
    standby.end();
  }
}
