package dev.ringfetch.rpc;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.session.ClientSession;
import dev.ringfetch.session.poller.DeadlineTimer;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Notices that a ring has had no call for as long as its channel is to wait before it becomes idle.
 * It looks a few times in that time, and only while there is a ring: no call pays for it, and idle
 * is called what has been so in each of these looks. Thread-safe.
 */
final class IdleWatch {
  /** As long as gRPC waits, unless told otherwise. */
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
   * @param onIdle told which session it is, in a thread of the default executor.
   * @param timeoutNs as gRPC takes it: a second at least, and from thirty days on for ever.
   */
  IdleWatch(Consumer<ClientSession> onIdle, long timeoutNs) {
    this.onIdle = onIdle;
    this.intervalNs = timeoutNs >= NEVER_NS ? 0 : Math.max(MIN_NS, timeoutNs) / LOOKS;
  }

  /** A session has been opened; it takes the place of the one before. */
  synchronized void start(ClientSession opened) {
    session = opened;
    quiet = 0;
    if (next == null) {
      lookLater();
    }
  }

  /** Nothing is watched any more. */
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
