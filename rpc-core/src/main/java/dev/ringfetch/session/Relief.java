package dev.ringfetch.session;

import dev.ringfetch.counters.Counter;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.agrona.concurrent.NanoClock;

/**
 * Keeps a task that holds up its poller's thread from holding up everybody. While tasks run the
 * duty is lent, and the thread that stands here looks from time to time whether they go on. Where
 * they have not between two looks it takes the duty over: a task may wait for what this very poller
 * is to bring about.
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

  /** Looks that have found nothing, until there are none. */
  static final int QUIET_LOOKS = 10;

  private final Poller poller;
  private final Ownership duty;
  private final NanoClock clock;
  private final AtomicReference<Thread> thread = new AtomicReference<>();

  /** One up when the duty is lent, and when it no longer is: odd while it is. */
  private final AtomicLong lent = new AtomicLong();

  /**
   * True while the thread looks. It sets this to false and then looks once more whether the duty is
   * lent; who lends the duty looks at this afterwards. Each is a volatile store before a volatile
   * load, so that one of the two sees.
   */
  private volatile boolean looking;

  /**
   * Who has lent the duty. Asked for by each thread only whether that is itself: no other needs to
   * see what one has stored.
   */
  private Thread lender;

  // The duty's.
  private boolean enabled;
  private int started;

  // Of the thread that stands here.
  private long seen;
  private long seenNs;
  private int quiet;

  Relief(Poller poller, Ownership duty, NanoClock clock) {
    this.poller = poller;
    this.duty = duty;
    this.clock = clock;
  }

  /** From now on somebody stands here when the duty is lent; before it is served. */
  void enable() {
    enabled = true;
  }

  /** True when the duty was ever lent. */
  boolean isUsed() {
    return lent.getAcquire() != 0;
  }

  /** Who stands here, or null. */
  Thread thread() {
    return thread.get();
  }

  /** Makes the duty nobody's, until {@link #takeBack}. The duty's. */
  void lend() {
    lender = Thread.currentThread();
    lent.setRelease(lent.getPlain() + 1);
    duty.release();
    if (enabled && !looking) {
      call();
    }
  }

  /** True in the thread that has lent the duty, and not lost it. */
  boolean isLender() {
    return lender == Thread.currentThread();
  }

  /**
   * Takes the duty back; false when another thread has it by now. The lender's, or of one that was,
   * and has lost it to a thread that has lent it in its turn.
   */
  boolean takeBack() {
    if (!duty.tryAcquire()) {
      return false;
    }
    taken();
    return true;
  }

  private void taken() {
    lender = null;
    lent.setRelease(lent.getPlain() + 1);
  }

  /** Has somebody look. Where no thread is to be had, the next who lends the duty tries again. */
  private void call() {
    if (thread.get() == null && !start()) {
      return;
    }
    looking = true;
    LockSupport.unpark(thread.get());
  }

  private boolean start() {
    try {
      final Thread next = new Thread(poller::standBy, poller.name() + "-relief-" + ++started);
      next.setDaemon(true);
      if (thread.compareAndSet(null, next)) {
        next.start();
      } // otherwise one has come back
      return true;
    } catch (Throwable t) { // there is no thread to be had
      thread.set(null);
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
    seen = lent.getAcquire();
    seenNs = clock.nanoTime();
    quiet = 0;
  }

  /** True when the duty has been lent since the last look, all the time. */
  private boolean look() {
    final long now = lent.getAcquire();
    final boolean same = now == seen;
    final boolean isLent = (now & 1) != 0;
    seen = now;
    seenNs = clock.nanoTime();
    if (same && !isLent && ++quiet == QUIET_LOOKS) {
      quiet = 0;
      looking = false;
      if (duty.isFree()) {
        looking = true;
      }
    } else if (!same) {
      quiet = 0;
    }
    return same && isLent;
  }

  /** False when the thread that had it has come back meanwhile. */
  private boolean take() {
    if (!duty.tryAcquire()) {
      return false;
    }
    taken();
    looking = false;
    thread.set(null);
    poller.tally().add(Counter.POLLER_TAKEOVERS, 1);
    return true;
  }

  /** The poller has ended: so does who stands here. Any thread. */
  void end() {
    LockSupport.unpark(thread.get());
  }
}
