package dev.ringfetch.session.poller;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Tally;
import org.agrona.concurrent.NanoClock;

/**
 * The tasks that a poller runs itself, between its rounds. Meanwhile its duty is nobody's, and the
 * {@link InlineBackup} looks whether it is so for long: then it takes the duty, and the thread that
 * runs the task finds afterwards that it is the poller no longer.
 *
 * <p>Nothing is taken in while no backup looks. It is woken when enough is offered within a
 * millisecond for its looks to cost less than the hand-overs that they spare.
 *
 * <p>Belongs to the holder of the duty, but for what {@link InlineBackup} asks.
 */
final class InlineTasks implements InlineBackup.Work {
  /** {@link #run} has returned in a thread that has the duty no longer. */
  static final int LOST = -1;

  /** After so long the sessions are looked after again, though there are tasks left. */
  static final long BUDGET_NS = 50_000;

  private final PollerLease lease;
  private final NanoClock clock;
  private final Tally tally;
  private final int leastPerWindow;
  private final InlineBackup backup;

  // Entries with tasks, each once, in the order of their turns.
  private PollerEntry first;
  private PollerEntry last;

  private long windowNs;
  private int offered; // in the window

  private InlineTask running;

  private volatile long lentAtNs;

  InlineTasks(PollerParts parts, int leastPerWindow) {
    this.lease = parts.lease();
    this.clock = parts.clock();
    this.tally = parts.tally();
    this.leastPerWindow = leastPerWindow;
    final int leastToLook = (leastPerWindow + 1) / 2; // not to and fro
    this.backup = new InlineBackup(parts, this, leastToLook);
  }

  InlineBackup backup() {
    return backup;
  }

  /** Takes a task of a entry, if it may: see {@link Poller#offer}. */
  boolean offer(PollerEntry entry, InlineTask task) {
    if (!backup.looks() && !wakeBackup()) {
      return false;
    }
    if (entry.firstInLine == null) {
      entry.firstInLine = task;
      addTurn(entry);
    } else {
      entry.lastInLine.nextInLine(task);
    }
    entry.lastInLine = task;
    return true;
  }

  private void addTurn(PollerEntry entry) {
    if (first == null) {
      first = entry;
    } else {
      last.nextInLine = entry;
    }
    last = entry;
  }

  private boolean wakeBackup() {
    final long now = clock.nanoTime();
    if (now - windowNs >= InlinePatience.WINDOW_NS) {
      windowNs = now;
      offered = 0;
    }
    return ++offered >= leastPerWindow && backup.summon();
  }

  boolean isEmpty() {
    return first == null;
  }

  /**
   * Runs tasks, one of each entry in turn.
   *
   * @return how many, or {@link #LOST}.
   */
  int run() {
    if (backup.thread() == null) { // nobody would take the duty over
      return handOver();
    }
    final long startNs = clock.nanoTime();
    long nowNs = startNs;
    int done = 0;
    while (first != null && nowNs - startNs < BUDGET_NS) {
      final InlineTask task = next();
      tally.add(Counter.POLLER_CALLS_INLINE, 1);
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
    final PollerEntry entry = first;
    first = entry.nextInLine;
    entry.nextInLine = null;
    final InlineTask task = entry.firstInLine;
    entry.firstInLine = task.nextInLine();
    task.nextInLine(null);
    if (entry.firstInLine != null) {
      addTurn(entry);
    } else {
      entry.lastInLine = null;
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
      backup.lent();
      task.runInline();
    } catch (Throwable t) { // a fault of memory that is not there any more comes up anywhere
      Callbacks.report(t);
    }
    return lease.takeBack();
  }

  /** Since when the duty is lent, if it is for a task of these. Any thread. */
  @Override
  public long lentAtNs() {
    return lentAtNs;
  }

  /** The duty was taken over from a thread that runs a task: that one is told of. */
  @Override
  public void takenOver(long lentNs, boolean waits) {
    tally.add(Counter.POLLER_TAKEOVERS, 1);
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
      tally.add(Counter.POLLER_CALLS_MOVED, 1);
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
  @Override
  public long calls() {
    return tally.get(Counter.POLLER_CALLS_INLINE);
  }

  /** The poller has ended: the backup ends, too. Any thread. */
  void end() {
    backup.end();
  }
}
