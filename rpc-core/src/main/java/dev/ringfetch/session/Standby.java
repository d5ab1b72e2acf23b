package dev.ringfetch.session;

import java.lang.Thread.State;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.agrona.concurrent.NanoClock;

/**
 * The place of the thread that takes a poller's duty over when a task keeps the poller's own thread
 * from it. Whoever stands here {@linkplain Watch looks} every now and then while tasks are run, and
 * else is parked.
 *
 * <p>At most one thread stands here. It is started when it is first needed; later it is one that
 * has lost the duty and come back, or again a new one.
 */
final class Standby {
  /** No thread is started for so long after the last one has taken the duty over. */
  static final long START_PAUSE_NS = 10_000_000;

  private final Inline inline;
  private final Poller poller;
  private final Ownership duty;
  private final Loan loan;
  private final NanoClock clock;
  private final AtomicReference<Thread> thread = new AtomicReference<>();

  /**
   * True while the thread looks. It sets this to false and then looks once more whether the duty is
   * lent; who lends the duty looks at this afterwards. Each is a volatile store before a volatile
   * load, so that one of the two sees.
   */
  private volatile boolean looking;

  // The duty's.
  private int started;
  private boolean paused;
  private long pausedNs;

  private final Watch watch; // of the thread that stands here

  Standby(
      Inline inline,
      Poller poller,
      Ownership duty,
      Loan loan,
      NanoClock clock,
      int leastPerWindow) {
    this.inline = inline;
    this.poller = poller;
    this.duty = duty;
    this.loan = loan;
    this.clock = clock;
    this.watch = new Watch(leastPerWindow);
  }

  /** Who stands here, or null. */
  Thread thread() {
    return thread.get();
  }

  /** True when the duty may be lent. */
  boolean looks() {
    return looking && thread.get() != null;
  }

  /** Has somebody stand here and look. False when that cannot be. The duty's. */
  boolean begin(long nowNs) {
    if (thread.get() == null && (isPaused(nowNs) || !start())) {
      return false;
    }
    wake();
    return true;
  }

  private boolean isPaused(long nowNs) {
    paused = paused && nowNs - pausedNs < START_PAUSE_NS;
    return paused;
  }

  private void pause() {
    paused = true;
    pausedNs = clock.nanoTime();
  }

  private boolean start() {
    final Thread next = new Thread(poller::standBy, poller.name() + "-" + ++started);
    next.setDaemon(true);
    if (!thread.compareAndSet(null, next)) {
      return true; // one has come back
    }
    try {
      next.start();
      return true;
    } catch (Throwable t) { // there is no thread to be had
      thread.compareAndSet(next, null);
      pause();
      return false;
    }
  }

  private void wake() {
    looking = true;
    LockSupport.unpark(thread.get());
  }

  /**
   * The duty is lent: whoever stands here must look. May come late, when it is lent no longer, or
   * when nobody stands here; whoever comes then looks.
   */
  void lent() {
    if (!looking) {
      wake();
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
      watch.stand(clock.nanoTime(), inline.calls());
      while (!poller.isFinished()) {
        Thread.interrupted(); // a task's that this thread has run: it would not park
        final long pauseNs = looking ? look() : Watch.REST;
        if (pauseNs == Watch.REST) {
          LockSupport.park(this);
          watch.begin(clock.nanoTime(), inline.calls());
        } else if (pauseNs != Watch.TAKE) {
          LockSupport.parkNanos(this, pauseNs);
        } else if (take()) {
          return true;
        }
      }
      return false;
    } finally {
      thread.compareAndSet(me, null);
    }
  }

  private long look() {
    final boolean lent = loan.isInline();
    final long pauseNs = watch.look(clock.nanoTime(), lent, inline.lentAtNs(), inline.calls());
    if (pauseNs == Watch.REST) {
      looking = false;
      if (duty.isFree()) {
        looking = true;
        return Watch.PAUSE_NS;
      }
    }
    return pauseNs;
  }

  /** False when the thread that had it has come back meanwhile. */
  private boolean take() {
    final State state = loan.lender().getState();
    if (!duty.tryAcquire()) {
      return false;
    }
    final long lentNs = watch.lentAtNs();
    looking = false; // and nothing is lent before another thread stands here
    thread.set(null);
    pause();
    try {
      inline.takenOver(lentNs, state != State.RUNNABLE);
    } catch (Throwable t) { // for want of memory: what is left is handed over after the next round
      Callbacks.report(t);
    }
    return true;
  }
}
