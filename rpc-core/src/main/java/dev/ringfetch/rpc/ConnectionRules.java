package dev.ringfetch.rpc;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.session.ServerSession;
import dev.ringfetch.session.poller.DeadlineTimer;
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

  private static final int LOOKS = 4;

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
    final Watch watch = new Watch(session, idleNs / LOOKS);
    if (idleNs < NEVER_NS) {
      watch.later(watch::look, idleNs / LOOKS);
    }
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
    private final ServerSession session;
    private final long intervalNs;

    // Guarded by this.
    private final List<Future<?>> due = new ArrayList<>();
    private boolean stopped;
    private Future<?> nextLook;
    private long calls = -1;
    private long moved;
    private int quiet;

    Watch(ServerSession session, long intervalNs) {
      this.session = session;
      this.intervalNs = intervalNs;
    }

    private synchronized void later(Runnable task, long delayNs) {
      if (!stopped) {
        due.add(schedule(task, delayNs));
      }
    }

    private static Future<?> schedule(Runnable task, long delayNs) {
      return DeadlineTimer.schedule(() -> DefaultExecutor.RETRYING.execute(task), delayNs);
    }

    /**
     * Looks for calls. A session is idle when several looks in a row find no call, nor activity.
     */
    private void look() {
      synchronized (this) {
        if (stopped) {
          return;
        }
        final long begun = session.count(Counter.SESSION_CALLS);
        final long at = session.pollPosition() + session.writePosition();
        quiet = begun == calls && at == moved && session.openCalls() == 0 ? quiet + 1 : 0;
        calls = begun;
        moved = at;
        if (quiet < LOOKS) {
          nextLook = schedule(this::look, intervalNs);
          return;
        }
      }
      session.drain();
    }

    /** Called when the session has ended. */
    synchronized void stop() {
      stopped = true;
      due.forEach(one -> one.cancel(false));
      if (nextLook != null) {
        nextLook.cancel(false);
      }
    }
  }
}
