package dev.ringfetch.rpc;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ringfetch.counters.Counter;
import dev.ringfetch.session.ServerSession;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * The limits of a server for idle time and age, applied to sessions as gRPC applies them to its
 * connections. To gRPC the stream of a session is a call: it keeps its connection from being idle,
 * and from ending if no grace is set. Immutable.
 *
 * @param idleNs after so long without a call a session ends; gRPC counts from there.
 * @param ageNs a session that is as old takes no new call.
 * @param graceNs after so much longer its calls are ended.
 */
record ConnectionRules(long idleNs, long ageNs, long graceNs) {
  /** The rules of a builder without settings. */
  static final ConnectionRules NONE =
      new ConnectionRules(Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE);

  /** gRPC takes this and longer times for never. */
  private static final long NEVER_NS = TimeUnit.DAYS.toNanos(1000);

  /** As gRPC has it: what is shorter is taken for that. */
  private static final long MIN_NS = TimeUnit.SECONDS.toNanos(1);

  ConnectionRules withIdle(long ns) {
    return new ConnectionRules(Math.max(ns, MIN_NS), ageNs, graceNs);
  }

  ConnectionRules withAge(long ns) {
    return new ConnectionRules(idleNs, Math.max(ns, MIN_NS), graceNs);
  }

  ConnectionRules withGrace(long ns) {
    return new ConnectionRules(idleNs, ageNs, ns);
  }

  /** Applies the rules to a session that has just opened, until the watch is stopped. */
  Watch watch(ServerSession session) {
    final Watch watch =
        new Watch(idleNs < NEVER_NS ? new IdleLooks(new Use(session), idleNs) : null);
    if (ageNs < NEVER_NS) {
      // gRPC lets connections end up to a tenth early or late: a session goes after its own, so
      // that the next one is opened over another.
      final long drainNs = ageNs + ageNs / 10;
      watch.later(session::drain, drainNs);
      if (graceNs < NEVER_NS) {
        watch.later(() -> session.abort("max connection age"), drainNs + graceNs);
      }
    }
    return watch;
  }

  /** The application of the rules to one session. Thread-safe. */
  static final class Watch {
    private final IdleLooks looks; // null: it may be idle for ever

    @GuardedBy("this")
    private final List<Future<?>> due = new ArrayList<>();

    @GuardedBy("this")
    private boolean stopped;

    Watch(IdleLooks looks) {
      this.looks = looks;
      if (looks != null) {
        looks.start();
      }
    }

    private synchronized void later(Runnable task, long delayNs) {
      if (!stopped) {
        due.add(DefaultExecutor.schedule(task, delayNs));
      }
    }

    /** Called when the session has ended. */
    synchronized void stop() {
      stopped = true;
      due.forEach(one -> one.cancel(false));
      if (looks != null) {
        looks.stop();
      }
    }
  }

  /** The use of one session: its calls, and what moves its rings. */
  private static final class Use implements IdleLooks.Subject {
    private final ServerSession session;
    private long calls = -1;
    private long moved;

    Use(ServerSession session) {
      this.session = session;
    }

    @Override
    public boolean isOver() {
      return session.hasEnded();
    }

    @Override
    public boolean wasQuiet() {
      final long begun = session.count(Counter.SESSION_CALLS);
      final long at = session.pollPosition() + session.writePosition();
      final boolean quiet = begun == calls && at == moved && session.openCalls() == 0;
      calls = begun;
      moved = at;
      return quiet;
    }

    @Override
    public void onIdle() {
      session.drain();
    }
  }
}
