package dev.ringfetch.session.poller;

import dev.ringfetch.counters.Counter;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Takes a poller's duty over when a task that others gave it keeps the poller's own thread from it:
 * such a task may wait for what this very poller is to bring about. It is relieved when two looks
 * have found the same one, and its thread waits. One that does not wait computes, or was kept from
 * its processor, where yet another thread would be of no help: it is given {@link #BUSY_LOOKS}. A
 * thread that is in a call of the system, as one that reads from a socket, counts as one that
 * computes: Java tells no difference.
 *
 * <p>For what should be rare: it is there after {@link #PAUSE_NS} to twice that, and costs a look
 * in that time while there are tasks. {@link InlineBackup} is there a hundred times sooner, and
 * costs as much more.
 */
final class TaskBackup extends BackupThread {
  /** Between looks, in nanoseconds. */
  static final long PAUSE_NS = 10_000_000;

  /** Looks at the same task until the duty is taken over from a thread that does not wait. */
  static final int BUSY_LOOKS = 10;

  /** Looks that have found nothing, until there are none. */
  static final int QUIET_LOOKS = 10;

  /** Tasks that have begun; of who runs them, so that one that has lost the duty may miscount. */
  private final AtomicLong begun = new AtomicLong();

  private volatile boolean enabled;

  /** A look has found tasks running since {@link #lent}. */
  private volatile boolean found;

  private final Retry again = new Retry(this::askIfLent, START_PAUSE_NS);

  // Of the thread that stands here.
  private long seen; // tasks that had begun by the last look
  private long seenNs;
  private int quiet;
  private int stuck; // looks that have found the same task

  TaskBackup(PollerParts parts) {
    super(parts, "-relief-");
  }

  /** From now on somebody stands here when the duty is lent. */
  void enable() {
    enabled = true;
  }

  /** The duty is lent for tasks: whoever stands here must look. May come late. */
  void lent() {
    if (found) {
      found = false;
    }
    if (!looks() && enabled && !summon()) {
      askAgain(); // nobody may ever lend it again, if the task waits for what is served then
    }
  }

  private void askAgain() {
    try {
      again.schedule();
    } catch (OutOfMemoryError e) { // who lends next asks again
      Callbacks.report(e);
    }
  }

  private void askIfLent() {
    if (lease.isForTasks()) {
      lent();
    }
  }

  /**
   * True when tasks have run for so long, one or several, that sessions are to have their turn. Of
   * one that goes on for longer the duty is taken.
   */
  boolean isTurnOver() {
    return found;
  }

  /** Has somebody look. False where nobody would: no thread is wanted, or none is to be had. */
  boolean call() {
    return enabled && summon();
  }

  /** A task begins: it is not the one before. */
  void begins() {
    begun.lazySet(begun.getPlain() + 1);
  }

  @Override
  void stand() {
    if (lease.isForTasks()) { // perhaps since nobody could be started
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
