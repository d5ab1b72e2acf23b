package dev.ringfetch.rpc;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.session.ClientSession;
import dev.ringfetch.session.poller.DeadlineTimer;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Idle timer of a channel's ring: reports a session that has had no call for the channel's idle
 * timeout. It looks several times in that time, and only while there is a ring, so that no call
 * pays for it; a session is idle if every look has found it idle. Thread-safe.
 */
final class IdleWatch {
  /** gRPC's default. */
  static final long DEFAULT_NS = TimeUnit.MINUTES.toNanos(30);

  private static final long MIN_NS = TimeUnit.SECONDS.toNanos(1);
  private static final long NEVER_NS = TimeUnit.DAYS.toNanos(30);
  private static final int LOOKS = 4;

  private final Consumer<ClientSession> onIdle;
  private final long intervalNs;

  // Guarded by this.
  private ClientSession session;
  private long calls;
  private int quiet;
  private Future<?> next;
  private boolean stopped;

  /**
   * Creates the watch.
   *
   * @param onIdle gets the idle session, on a thread of the default executor.
   * @param timeoutNs as gRPC takes it: a second at least, and from thirty days on for ever.
   */
  IdleWatch(Consumer<ClientSession> onIdle, long timeoutNs) {
    this.onIdle = onIdle;
    this.intervalNs = timeoutNs >= NEVER_NS ? 0 : Math.max(MIN_NS, timeoutNs) / LOOKS;
  }

  /** Watches a session that has been opened, instead of the one before. */
  synchronized void start(ClientSession opened) {
    session = opened;
    quiet = 0;
    if (next == null) {
      lookLater();
    }
  }

  /** Stops watching. */
  synchronized void stop() {
    stopped = true;
    session = null;
    if (next != null) {
      next.cancel(false);
    }
  }

  private void lookLater() {
    if (intervalNs > 0 && !stopped) {
      next = DeadlineTimer.schedule(() -> DefaultExecutor.RETRYING.execute(this::look), intervalNs);
    }
  }

  private void look() {
    final ClientSession idle;
    synchronized (this) {
      next = null;
      if (session == null || session.hasEnded() || session.isDraining()) {
        session = null; // the next one starts the watch again
        return;
      }
      final long begun = session.count(Counter.SESSION_CALLS);
      quiet = session.callCount() == 0 && begun == calls ? quiet + 1 : 0;
      calls = begun;
      if (quiet < LOOKS) {
        lookLater();
        return;
      }
      idle = session;
      session = null;
    }
    onIdle.accept(idle);
  }
}
