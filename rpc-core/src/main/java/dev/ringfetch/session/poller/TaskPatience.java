package dev.ringfetch.session.poller;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Tally;
import dev.ringfetch.session.owner.OwnedBy;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The patience with ordinary tasks, of which one may block the poller's own thread, for example by
 * waiting for an answer that this very poller has to deliver. The backup thread takes the poller
 * over when two looks have found the same task, and its thread waits. A thread that does not wait
 * computes, or has no processor, where another thread would not help: it is given {@link
 * #BUSY_LOOKS}. A thread in a system call, such as a read from a socket, counts as computing, since
 * Java cannot distinguish the two.
 *
 * <p>It is meant for rare cases: it reacts after one to two times {@link #PAUSE_NS}, and costs one
 * look in that time while there are tasks. {@link InlinePatience} reacts a hundred times sooner,
 * and costs as much more.
 */
final class TaskPatience implements Patience {
  /** Between looks, in nanoseconds. */
  static final long PAUSE_NS = 10_000_000;

  /** Looks at the same task until the poller is taken over from a thread that does not wait. */
  static final int BUSY_LOOKS = 10;

  /** Looks without a find, after which the thread rests. */
  static final int QUIET_LOOKS = 10;

  private final PollerLease lease;
  private final Tally tally;

  /**
   * Tasks that have begun; written by the thread that runs them, so that one that has lost the
   * poller may miscount.
   */
  private final AtomicLong begun = new AtomicLong();

  /** True when a look has found tasks running since {@link #lent}. */
  private volatile boolean found;

  @OwnedBy("backup")
  private long seen; // tasks that had begun by the last look

  @OwnedBy("backup")
  private long seenNs;

  @OwnedBy("backup")
  private int quiet;

  @OwnedBy("backup")
  private int stuck; // looks that have found the same task

  TaskPatience(PollerParts parts) {
    this.lease = parts.lease();
    this.tally = parts.tally();
  }

  /** Called when a lease for tasks was given. */
  void lent() {
    if (found) {
      found = false;
    }
  }

  /** Called when another task begins. */
  void begins() {
    begun.lazySet(begun.getPlain() + 1);
  }

  /**
   * True when tasks, one or several, have run for so long that sessions are to have their turn. If
   * a single task runs on, the poller is taken over.
   */
  boolean isTurnOver() {
    return found;
  }

  @Override
  public boolean stand(long nowNs) {
    begin(nowNs);
    return lease.isForTasks(); // perhaps no thread could be started
  }

  @Override
  public void begin(long nowNs) {
    seen = begun.get();
    seenNs = nowNs;
    quiet = 0;
    stuck = 0;
  }

  @Override
  public long look(long nowNs) {
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
  public void taken() {
    tally.add(Counter.POLLER_TAKEOVERS, 1);
  }
}
