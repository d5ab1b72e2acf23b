package dev.ringfetch.session;

import dev.ringfetch.counters.Counter;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.agrona.concurrent.NanoClock;

/**
 * Keeps a task that holds up its poller's thread from holding up everybody. While tasks run the
 * duty is {@linkplain Loan lent}, and the thread that stands here looks from time to time whether
 * they go on. Where they have not between two looks, and wait, it takes the duty over: a task may
 * wait for what this very poller is to bring about. One that does not wait computes, or was kept
 * from its processor, where yet another thread would be of no help: it is given {@link
 * #BUSY_LOOKS}.
 *
 * <p>For what should be rare: it is there after {@link #PAUSE_NS} to twice that, and costs a look
 * in that time while there are tasks. {@link Standby} is there a hundred times sooner, and costs as
 * much more.
 *
 * <p>At most one thread stands here, started when it is first needed; later it is one that has lost
 * the duty and come back, or a new one.
 */
final class Relief {
  /** Between looks, in nanoseconds. */
  static final long PAUSE_NS = 10_000_000;

  /** Looks at the same tasks until the duty is taken over from a thread that does not wait. */
  static final int BUSY_LOOKS = 10;

  /** Looks that have found nothing, until there are none. */
  static final int QUIET_LOOKS = 10;

  private final Poller poller;
  private final Ownership duty;
  private final Loan loan;
  private final NanoClock clock;
  private final AtomicReference<Thread> thread = new AtomicReference<>();
  private final AtomicInteger started = new AtomicInteger();

  /**
   * True while the thread looks. It sets this to false and then looks once more whether the duty is
   * lent; who lends the duty looks at this afterwards. Each is a volatile store before a volatile
   * load, so that one of the two sees.
   */
  private volatile boolean looking;

  private volatile boolean enabled;

  // Of the thread that stands here.
  private long seen;
  private long seenNs;
  private int quiet;
  private int stuck; // looks that have found the same tasks

  Relief(Poller poller, Ownership duty, Loan loan, NanoClock clock) {
    this.poller = poller;
    this.duty = duty;
    this.loan = loan;
    this.clock = clock;
  }

  /** From now on somebody stands here when the duty is lent. */
  void enable() {
    enabled = true;
  }

  /** Who stands here, or null. */
  Thread thread() {
    return thread.get();
  }

  /** True while it is worth while to stand here. */
  boolean isAsked() {
    return looking;
  }

  /** The duty is lent for tasks: whoever stands here must look. May come late. */
  void lent() {
    if (!looking || thread.get() == null) {
      final boolean unused = call(); // or who lends it next calls again
    }
  }

  /** Has somebody look. False where nobody would: no thread is wanted, or none is to be had. */
  boolean call() {
    if (!enabled || (thread.get() == null && !start())) {
      return false;
    }
    if (!looking) {
      looking = true;
      LockSupport.unpark(thread.get());
    }
    return true;
  }

  /** False where no thread is to be had. */
  private boolean start() {
    Thread next = null;
    try {
      next = new Thread(poller::standBy, poller.name() + "-relief-" + started.incrementAndGet());
      next.setDaemon(true);
      if (thread.compareAndSet(null, next)) {
        next.start();
      } // otherwise one has come back
      return true;
    } catch (Throwable t) { // there is no thread to be had
      thread.compareAndSet(next, null);
      return false;
    }
  }

  /**
   * Stands here, unless another thread does, until the duty is to be taken over.
   *
   * @return true when the calling thread has the duty; false when it is not needed.
   */
  boolean await() {
    final Thread me = Thread.currentThread();
    if (thread.get() != me && !thread.compareAndSet(null, me)) {
      return false;
    }
    try {
      if (loan.isForTasks()) { // perhaps since nobody could be started
        looking = true;
      }
      begin();
      while (!poller.isFinished()) {
        Thread.interrupted(); // a task's that this thread has run: it would not park
        if (!looking) {
          LockSupport.park(this);
          begin();
        } else if (clock.nanoTime() - seenNs < PAUSE_NS) {
          LockSupport.parkNanos(this, PAUSE_NS);
        } else if (look() && take()) {
          return true;
        }
      }
      return false;
    } finally {
      thread.compareAndSet(me, null);
    }
  }

  private void begin() {
    seen = loan.number();
    seenNs = clock.nanoTime();
    quiet = 0;
    stuck = 0;
  }

  /** True when the tasks run that ran at the last look, and are not to be waited for. */
  private boolean look() {
    final boolean lent = loan.isForTasks();
    final long number = loan.number();
    final boolean same = number == seen;
    seen = number;
    seenNs = clock.nanoTime();
    if (lent || !same) {
      quiet = 0;
    } else if (++quiet == QUIET_LOOKS) {
      quiet = 0;
      looking = false;
      if (duty.isFree()) {
        looking = true;
      }
    }
    stuck = lent && same ? stuck + 1 : 0;
    return stuck >= BUSY_LOOKS || (stuck > 0 && loan.lender().getState() != Thread.State.RUNNABLE);
  }

  /** False when the thread that had it has come back meanwhile. */
  private boolean take() {
    if (!duty.tryAcquire()) {
      return false;
    }
    thread.set(null);
    looking = false;
    poller.tally().add(Counter.POLLER_TAKEOVERS, 1);
    return true;
  }

  /** The poller has ended: so does who stands here. Any thread. */
  void end() {
    LockSupport.unpark(thread.get());
  }
}
