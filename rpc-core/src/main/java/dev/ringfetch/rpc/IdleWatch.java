package dev.ringfetch.rpc;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ringfetch.counters.Counter;
import dev.ringfetch.session.ClientSession;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Idle timer of a channel's ring: reports a session that has had no call for the channel's idle
 * timeout. It {@linkplain IdleLooks looks} only while there is a ring. Thread-safe.
 */
final class IdleWatch {
  /** gRPC's default. */
  static final long DEFAULT_NS = TimeUnit.MINUTES.toNanos(30);

  private static final long MIN_NS = TimeUnit.SECONDS.toNanos(1);
  private static final long NEVER_NS = TimeUnit.DAYS.toNanos(30);

  private final Consumer<ClientSession> onIdle;
  private final long timeoutNs;

  @GuardedBy("this")
  private IdleLooks looks; // null: no session was opened yet

  @GuardedBy("this")
  private boolean stopped;

  /**
   * Creates the watch.
   *
   * @param onIdle gets the idle session, on a thread of the default executor.
   * @param timeoutNs as gRPC takes it: a second at least, and from thirty days on for ever.
   */
  IdleWatch(Consumer<ClientSession> onIdle, long timeoutNs) {
    this.onIdle = onIdle;
    this.timeoutNs = Math.max(MIN_NS, timeoutNs);
  }

  /** Watches a session that has been opened, instead of the one before. */
  synchronized void start(ClientSession opened) {
    if (stopped || timeoutNs >= NEVER_NS) {
      return;
    }
    if (looks != null) {
      looks.stop();
    }
    looks = new IdleLooks(new Use(opened), timeoutNs);
    looks.start();
  }

  /** Stops watching. */
  synchronized void stop() {
    stopped = true;
    if (looks != null) {
      looks.stop();
      looks = null;
    }
  }

  /** The use of one session. */
  private final class Use implements IdleLooks.Subject {
    private final ClientSession session;
    private long calls;

    Use(ClientSession session) {
      this.session = session;
    }

    @Override
    public boolean isOver() {
      return session.hasEnded() || session.isDraining();
    }

    @Override
    public boolean wasQuiet() {
      final long begun = session.count(Counter.SESSION_CALLS);
      final boolean quiet = session.callCount() == 0 && begun == calls;
      calls = begun;
      return quiet;
    }

    @Override
    public void onIdle() {
      onIdle.accept(session);
    }
  }
}
