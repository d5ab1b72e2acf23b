package dev.ringfetch.session.poller;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Tally;
import dev.ringfetch.session.owner.OwnedBy;
import org.agrona.concurrent.NanoClock;
import org.jspecify.annotations.Nullable;

/**
 * The tasks that a poller runs itself, between its rounds. Meanwhile the poller is on lease, and a
 * {@link BackupThread} checks whether that takes longer than {@link InlinePatience#PATIENCE_NS}:
 * then it takes the poller over, and the thread that runs the task finds afterwards that it has
 * lost the poller.
 *
 * <p>No task is accepted while the backup does not look. It is woken when so many tasks are offered
 * within a millisecond that its looks cost less than the hand-overs that they save.
 *
 * <p>Used by the thread that drives the poller, except for the methods for the backup thread.
 */
final class InlineTasks implements Patience {
  /** Result of {@link #run} on a thread that has lost the poller. */
  static final int LOST = -1;

  private final PollerLease lease;
  private final NanoClock clock;
  private final Tally tally;
  private final int leastPerWindow;
  private final BackupThread backup;

  @OwnedBy("backup")
  private final InlinePatience patience;

  // Entries with tasks, each once, in the order of their turns.
  private PollerEntry first;
  private PollerEntry last;

  private long windowNs;
  private int offered; // in the window

  private @Nullable InlineTask running;

  private volatile long lentAtNs;

  @OwnedBy("backup")
  private boolean lenderWaits; // when it has decided to take over

  InlineTasks(PollerParts parts, int leastPerWindow) {
    this.lease = parts.lease();
    this.clock = parts.clock();
    this.tally = parts.tally();
    this.leastPerWindow = leastPerWindow;
    final int leastToLook = (leastPerWindow + 1) / 2; // hysteresis
    this.patience = new InlinePatience(leastToLook);
    this.backup = new BackupThread(parts, this, "-inline-");
  }

  BackupThread backup() {
    return backup;
  }

  /** Accepts a task of an entry, if it may: see {@link Poller#offer}. */
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
    if (backup.thread() == null) { // no thread would take the poller over
      return handOver();
    }
    final long startNs = clock.nanoTime();
    long nowNs = startNs;
    int done = 0;
    while (first != null && nowNs - startNs < InlineTask.BUDGET_NS) {
      final InlineTask task = next();
      tally.add(Counter.POLLER_CALLS_INLINE, 1);
      final long processorNs = runLent(task, nowNs);
      final boolean lost = !takeBack();
      Thread.interrupted(); // meant for the task, not for the poller
      final long endNs = clock.nanoTime();
      if (!lost || processorNs != ProcessorTime.UNKNOWN) {
        final long durationNs = endNs - nowNs;
        task.record()
            .ranInline(
                durationNs, ProcessorTime.sinceNs(processorNs, durationNs), task.inlineParts());
      }
      if (lost) {
        return LOST;
      }
      nowNs = endNs;
      done++;
    }
    return done;
  }

  private InlineTask next() {
    final PollerEntry entry = first;
    first = entry.nextInLine;
    if (first == null) {
      last = null; // it refers to a session
    }
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

  /** Runs a task under a lease. Returns the processor time at its start, if that is measured. */
  private long runLent(InlineTask task, long nowNs) {
    long processorNs = ProcessorTime.UNKNOWN;
    running = task;
    lentAtNs = nowNs;
    try {
      lease.lendInline();
      backup.wake(); // may come late; where there is no thread, the next one looks
      if (task.record().isDoubtful()) {
        processorNs = ProcessorTime.nowNs();
      }
      task.runInline();
    } catch (Throwable t) { // a fault of lost memory may be thrown anywhere
      Callbacks.report(t);
    }
    return processorNs;
  }

  /**
   * Ends the lease. False when another thread has the poller by now. A thread that has lost the
   * poller may get it back, if the other one runs a task just then: then that one loses it.
   */
  private boolean takeBack() {
    final boolean mine = lease.takeBack();
    if (mine) {
      running = null; // it refers to what the application has put into its call
    }
    return mine;
  }

  @Override
  public boolean stand(long nowNs) {
    patience.stand(nowNs, calls());
    return false;
  }

  @Override
  public void begin(long nowNs) {
    patience.begin(nowNs, calls());
  }

  @Override
  public long look(long nowNs) {
    final boolean lent = lease.isInline();
    final long pauseNs = patience.look(nowNs, lent, lentAtNs, calls());
    if (pauseNs == TAKE) {
      lenderWaits = lease.isLenderWaiting();
    }
    return pauseNs;
  }

  @Override
  public void taken() {
    backup.pause();
    try {
      takenOver(patience.lentAtNs(), lenderWaits);
    } catch (Throwable t) {
      // for lack of memory: the remaining tasks are handed over after the next round
      Callbacks.report(t);
    }
  }

  /** Notifies the task from whose thread the poller was taken over. */
  private void takenOver(long lentNs, boolean waits) {
    tally.add(Counter.POLLER_TAKEOVERS, 1);
    final InlineTask late = running;
    running = null;
    if (lease.wasInline() && lentNs == lentAtNs) { // otherwise the task has only just begun
      late.record().overran(waits);
    }
    handOver();
  }

  /** Hands all tasks over to other threads. Returns how many. */
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
  private long calls() {
    return tally.get(Counter.POLLER_CALLS_INLINE);
  }
}
