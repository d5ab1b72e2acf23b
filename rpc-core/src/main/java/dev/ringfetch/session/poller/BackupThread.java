package dev.ringfetch.session.poller;

import dev.ringfetch.flight.FlightEvents;
import dev.ringfetch.timer.DaemonThreads;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.agrona.concurrent.NanoClock;
import org.jspecify.annotations.Nullable;

/**
 * The backup thread of a poller: polls while the poller's own thread is stuck in a task. It looks
 * now and then while a task runs, and is parked otherwise. Its {@link Patience} decides when a look
 * is due, and what follows from it.
 *
 * <p>There is at most one such thread at a time. It is started when it is first needed; later it is
 * a thread that has lost the poller and come back, or again a new one.
 */
final class BackupThread {
  /** How long no thread is started after a {@link #pause}. */
  static final long START_PAUSE_NS = 10_000_000;

  private final BackupHost host;
  private final NanoClock clock;
  private final OwnerToken token;
  private final Patience patience;
  private final String infix;
  private final AtomicReference<Thread> thread = new AtomicReference<>();
  private final AtomicInteger started = new AtomicInteger();

  /**
   * True while the thread looks. It sets this to false and then checks once more for a lease; a
   * thread that gives a lease checks this field afterwards. Each is a volatile store before a
   * volatile load, so that one of the two notices.
   */
  private volatile boolean looking;

  // Written by the thread that requests a backup; if two do so at once, one request may be
  // superfluous.
  private boolean paused;
  private long pausedNs;

  /**
   * Creates the backup, without a thread.
   *
   * @param infix between the poller's name and a number, in the names of threads that are started.
   */
  BackupThread(PollerParts parts, Patience patience, String infix) {
    this.host = parts.host();
    this.token = parts.token();
    this.clock = parts.clock();
    this.patience = patience;
    this.infix = infix;
  }

  /** The backup thread, if there is one. */
  @Nullable Thread thread() {
    return thread.get();
  }

  /** True while a backup thread is wanted. */
  boolean isAsked() {
    return looking;
  }

  /** True while the thread looks. */
  boolean looks() {
    return looking && thread.get() != null;
  }

  /**
   * Starts or wakes the thread, so that it looks. False where none can be started, or could not a
   * moment ago.
   */
  boolean summon() {
    if (thread.get() == null && (isPaused() || !start())) {
      return false;
    }
    wake();
    return true;
  }

  /** Makes the present or the next backup thread look. */
  void wake() {
    if (!looking) {
      looking = true;
      LockSupport.unpark(thread.get());
    }
  }

  private boolean isPaused() {
    paused = paused && clock.nanoTime() - pausedNs < START_PAUSE_NS;
    return paused;
  }

  /** Starts no thread for a while: starting one takes longer than most tasks. */
  void pause() {
    paused = true;
    pausedNs = clock.nanoTime();
  }

  /** Starts a thread. False where none can be started. */
  private boolean start() {
    Thread next = null;
    try {
      next = DaemonThreads.create(host::standBy, host.name() + infix + started.incrementAndGet());
      if (thread.compareAndSet(null, next)) {
        next.start();
      } // otherwise a thread has come back
      return true;
    } catch (Throwable t) { // no thread can be started
      thread.compareAndSet(next, null);
      pause();
      return false;
    }
  }

  /**
   * Stands by as the backup, unless another thread does, until the poller is to be taken over.
   *
   * @return true when the calling thread has taken the poller over; false when it is not needed.
   */
  boolean await() {
    Thread me = Thread.currentThread();
    if (thread.get() != me && !thread.compareAndSet(null, me)) {
      return false;
    }
    try {
      if (patience.stand(clock.nanoTime())) {
        wake();
      }
      while (!host.isFinished()) {
        Thread.interrupted(); // left by a task that this thread has run: it would not park
        if (!looking) {
          LockSupport.park(this);
          patience.begin(clock.nanoTime());
          continue;
        }
        final long pauseNs = patience.look(clock.nanoTime());
        if (pauseNs == Patience.REST) {
          rest();
        } else if (pauseNs != Patience.TAKE) {
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

  /** Takes the poller over. False when its thread has come back meanwhile. */
  private boolean take() {
    if (!token.tryAcquire()) {
      return false;
    }
    looking = false; // and no lease is given before another backup thread is there
    thread.set(null);
    patience.taken();
    FlightEvents.tookOver(host.name());
    return true;
  }

  /** Ends the backup thread, because the poller has ended. Any thread. */
  void end() {
    LockSupport.unpark(thread.get());
  }
}
