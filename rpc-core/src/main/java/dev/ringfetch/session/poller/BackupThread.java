package dev.ringfetch.session.poller;

import dev.ringfetch.counters.Tally;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.agrona.concurrent.NanoClock;

/**
 * The place of the thread that takes a poller's duty over when what the poller's own thread runs
 * meanwhile keeps it from it. Whoever stands here looks every now and then while anything is run,
 * and else is parked. When a look is due, and what it leads to, is for {@link InlineBackup} and
 * {@link TaskBackup} to say.
 *
 * <p>At most one thread stands here. It is started when it is first needed; later it is one that
 * has lost the duty and come back, or again a new one.
 */
abstract class BackupThread {
  /** A look: there is nothing to look after. */
  static final long REST = -1;

  /** A look: the poller is to be taken over. */
  static final long TAKE = -2;

  /** No thread is started for so long after a {@link #pause}. */
  static final long START_PAUSE_NS = 10_000_000;

  final BackupHost host;
  final PollerLease lease;
  final NanoClock clock;
  final Tally tally;

  private final OwnerToken token;
  private final String infix;
  private final AtomicReference<Thread> thread = new AtomicReference<>();
  private final AtomicInteger started = new AtomicInteger();

  /**
   * True while the thread looks. It sets this to false and then looks once more whether the duty is
   * lent; who lends the duty looks at this afterwards. Each is a volatile store before a volatile
   * load, so that one of the two sees.
   */
  private volatile boolean looking;

  // Of who asks for a thread; where two do at once, it may be asked once too often.
  private boolean paused;
  private long pausedNs;

  /**
   * Creates the place; nobody stands here.
   *
   * @param infix between the poller's name and a number, in the names of threads that are started.
   */
  BackupThread(PollerParts parts, String infix) {
    this.host = parts.host();
    this.token = parts.token();
    this.lease = parts.lease();
    this.clock = parts.clock();
    this.tally = parts.tally();
    this.infix = infix;
  }

  /** Another thread stands here from now on. */
  abstract void stand();

  /** It looks from now on, after a rest. */
  abstract void begin();

  /**
   * One look.
   *
   * @return nanoseconds until the next one, {@link #REST} or {@link #TAKE}.
   */
  abstract long look();

  /** The thread that stood here has the duty. */
  abstract void taken();

  /** Who stands here, or null. */
  final Thread thread() {
    return thread.get();
  }

  /** True while it is worth while to stand here. */
  final boolean isAsked() {
    return looking;
  }

  /** True while somebody looks. */
  final boolean looks() {
    return looking && thread.get() != null;
  }

  /** Has somebody stand here and look. False where no thread is to be had, or was a moment ago. */
  final boolean summon() {
    if (thread.get() == null && (isPaused() || !start())) {
      return false;
    }
    wake();
    return true;
  }

  /** Has whoever stands here look, or comes next. */
  final void wake() {
    if (!looking) {
      looking = true;
      LockSupport.unpark(thread.get());
    }
  }

  private boolean isPaused() {
    paused = paused && clock.nanoTime() - pausedNs < START_PAUSE_NS;
    return paused;
  }

  /** For a while no thread is started: to ask the system takes longer than most of what is run. */
  final void pause() {
    paused = true;
    pausedNs = clock.nanoTime();
  }

  /** False where no thread is to be had. */
  private boolean start() {
    Thread next = null;
    try {
      next = new Thread(host::standBy, host.name() + infix + started.incrementAndGet());
      next.setDaemon(true);
      if (thread.compareAndSet(null, next)) {
        next.start();
      } // otherwise one has come back
      return true;
    } catch (Throwable t) { // there is no thread to be had
      thread.compareAndSet(next, null);
      pause();
      return false;
    }
  }

  /**
   * Stands here, unless another thread does, until the duty is to be taken over.
   *
   * @return true when the calling thread has the duty; false when it is not needed.
   */
  final boolean await() {
    final Thread me = Thread.currentThread();
    if (thread.get() != me && !thread.compareAndSet(null, me)) {
      return false;
    }
    try {
      stand();
      while (!host.isFinished()) {
        Thread.interrupted(); // a task's that this thread has run: it would not park
        if (!looking) {
          LockSupport.park(this);
          begin();
          continue;
        }
        final long pauseNs = look();
        if (pauseNs == REST) {
          rest();
        } else if (pauseNs != TAKE) {
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

  private void rest() {
    looking = false;
    if (token.isFree()) {
      looking = true;
    }
  }

  /** False when the thread that had it has come back meanwhile. */
  private boolean take() {
    if (!token.tryAcquire()) {
      return false;
    }
    looking = false; // and nothing is lent before another thread stands here
    thread.set(null);
    taken();
    return true;
  }

  /** The poller has ended: so does who stands here. Any thread. */
  final void end() {
    LockSupport.unpark(thread.get());
  }
}
