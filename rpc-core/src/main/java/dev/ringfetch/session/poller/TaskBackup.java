package dev.ringfetch.session.poller;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.timer.Retry;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The backup thread for ordinary tasks: takes the poller over when a task blocks the poller's own
 * thread, for example by waiting for an answer that this very poller has to deliver. It does so
 * when two looks have found the same task, and its thread waits. A thread that does not wait
 * computes, or has no processor, where another thread would not help: it is given {@link
 * #BUSY_LOOKS}. A thread in a system call, such as a read from a socket, counts as computing, since
 * Java cannot distinguish the two.
 *
 * <p>It is meant for rare cases: it reacts after one to two times {@link #PAUSE_NS}, and costs one
 * look in that time while there are tasks. {@link InlineBackup} reacts a hundred times sooner, and
 * costs as much more.
 */
final class TaskBackup extends BackupThread {
  /** Between looks, in nanoseconds. */
  static final long PAUSE_NS = 10_000_000;

  /** Looks at the same task until the poller is taken over from a thread that does not wait. */
  static final int BUSY_LOOKS = 10;

  /** Looks without a find, after which the thread rests. */
  static final int QUIET_LOOKS = 10;

  /**
   * Tasks that have begun; written by the thread that runs them, so that one that has lost the
   * poller may miscount.
   */
  private final AtomicLong begun = new AtomicLong();

  private volatile boolean enabled;

  /** True when a look has found tasks running since {@link #lent}. */
  private volatile boolean found;

  private final Retry again = new Retry(this::askIfLent, START_PAUSE_NS);

  // Used by the backup thread.
  private long seen; // tasks that had begun by the last look
  private long seenNs;
  private int quiet;
  private int stuck; // looks that have found the same task

  TaskBackup(PollerParts parts) {
    super(parts, "-relief-");
  }

  /** Allows a backup thread to be started. */
  void enable() {
    enabled = true;
  }

  /** Called when a lease for tasks was given: the backup thread must look. May come late. */
  void lent() {
    if (found) {
      found = false;
    }
    if (!looks() && enabled && !summon()) {
      askAgain(); // there may be no further lease, if the task waits for this poller
    }
  }

  private void askAgain() {
    try {
      again.schedule();
    } catch (OutOfMemoryError e) { // the next lease requests it again
      Callbacks.report(e);
    }
  }

  private void askIfLent() {
    if (lease.isForTasks()) {
      lent();
    }
  }

  /**
   * True when tasks, one or several, have run for so long that sessions are to have their turn. If
   * a single task runs on, the poller is taken over.
   */
  boolean isTurnOver() {
    return found;
  }

  /**
   * Makes the backup thread look. False where there is none: it is not wanted, or cannot be
   * started.
   */
  boolean call() {
    return enabled && summon();
  }

  /** Called when another task begins. */
  void begins() {
    begun.lazySet(begun.getPlain() + 1);
  }

  @Override
  void stand() {
    if (lease.isForTasks()) { // perhaps no thread could be started
      wake();
    }
    begin();
  }

  @Override
  void begin() {
    seen = begun.get();
    seenNs = clock.nanoTime();
    quiet = 0;
    stuck = 0;
  }

  @Override
  long look() {
    final long nowNs = clock.nanoTime();
    if (nowNs - seenNs < PAUSE_NS) {
      return PAUSE_NS;
    }
    final boolean lent = lease.isForTasks();
    if (lent) {
      found = true;
    }
    final long number = begun.get();
    final boolean same = number == seen;
    seen = number;
    seenNs = nowNs;
    stuck = lent && same ? stuck + 1 : 0;
    if (stuck >= BUSY_LOOKS || (stuck > 0 && lease.isLenderWaiting())) {
      return TAKE;
    }
    quiet = lent || !same ? 0 : quiet + 1;
    if (quiet < QUIET_LOOKS) {
      return PAUSE_NS;
    }
    quiet = 0;
    return REST;
  }

  @Override
  void taken() {
    tally.add(Counter.POLLER_TAKEOVERS, 1);
  }
}
