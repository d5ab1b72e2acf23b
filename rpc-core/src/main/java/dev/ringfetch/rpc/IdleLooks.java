package dev.ringfetch.rpc;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.concurrent.Future;

/**
 * The repeated look at a session for as long as it is in use: acts when several looks in a row have
 * found it idle, so that no call pays for the watch. Thread-safe.
 */
final class IdleLooks {
  /** Looks in a row that find an idle session idle; its timeout has as many intervals. */
  static final int LOOKS = 4;

  private final long intervalNs;

  @GuardedBy("this")
  private Subject subject; // null: nothing is watched any more, and the session is not kept

  @GuardedBy("this")
  private Future<?> next;

  @GuardedBy("this")
  private int quiet;

  @GuardedBy("this")
  private boolean stopped;

  /**
   * Creates the watch; the first look follows an interval after {@link #start}.
   *
   * @param timeoutNs after which a session without a call is idle, in nanoseconds.
   */
  IdleLooks(Subject subject, long timeoutNs) {
    this.subject = subject;
    this.intervalNs = timeoutNs / LOOKS;
  }

  /** Begins to look. Called once. */
  synchronized void start() {
    if (!stopped) {
      next = DefaultExecutor.schedule(this::look, intervalNs);
    }
  }

  /** Looks no more. Idempotent. */
  synchronized void stop() {
    stopped = true;
    subject = null;
    if (next != null) {
      next.cancel(false);
    }
  }

  private void look() {
    final Subject idle;
    synchronized (this) {
      if (stopped || subject == null) {
        return;
      }
      if (subject.isOver()) {
        subject = null;
        return;
      }
      quiet = subject.wasQuiet() ? quiet + 1 : 0;
      if (quiet < LOOKS) {
        start();
        return;
      }
      idle = subject;
      subject = null;
    }
    idle.onIdle();
  }

  /** A session, as the watch sees it. Used by one thread at a time. */
  interface Subject {
    /** True when there is nothing to watch any more. */
    boolean isOver();

    /** True when the session has done nothing since the last look, and has no call. */
    boolean wasQuiet();

    /** Called once, when the session is idle, on a thread of the default executor. */
    void onIdle();
  }
}
