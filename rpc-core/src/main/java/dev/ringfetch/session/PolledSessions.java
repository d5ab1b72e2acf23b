package dev.ringfetch.session;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Tally;
import java.util.ArrayList;
import java.util.List;

/**
 * The sessions of a poller, and which of them it polls. Belongs to the holder of the poller's duty.
 */
final class PolledSessions {
  private static final long MIN_REST_NS = 20_000;
  private static final long MAX_REST_NS = 1_000_000;

  private final Tally tally;
  private final List<Session> all = new ArrayList<>();
  private final List<Session> active = new ArrayList<>();

  PolledSessions(Tally tally) {
    this.tally = tally;
  }

  void add(Session session) {
    session.place = all.size();
    all.add(session);
    tally.set(Counter.POLLER_SESSIONS, all.size());
  }

  /** The last of the sessions takes its place: who has many of them looks for none. */
  void remove(Session session) {
    final int place = session.place;
    if (place < all.size() && all.get(place) == session) {
      final Session last = all.remove(all.size() - 1);
      if (last != session) {
        all.set(place, last);
        last.place = place;
      }
    }
    tally.set(Counter.POLLER_SESSIONS, all.size());
    drop(session);
  }

  int size() {
    return all.size();
  }

  Session get(int index) {
    return all.get(index);
  }

  /** All sessions as of now, for who may add or remove some meanwhile. */
  List<Session> copy() {
    return List.copyOf(all);
  }

  /** Polls a session from now on. */
  void activate(Session session) {
    session.resting = false;
    if (!session.active) {
      active.add(session);
      session.active = true;
      session.polled = true;
      tally.set(Counter.POLLER_SESSIONS_POLLED, active.size());
    }
  }

  /** Polls a session no longer. */
  void drop(Session session) {
    active.remove(session);
    session.active = false;
    session.polled = false;
    tally.set(Counter.POLLER_SESSIONS_POLLED, active.size());
  }

  int activeCount() {
    return active.size();
  }

  Session active(int index) {
    return active.get(index);
  }

  /** True when no session is busy, but for those that have waited long for leave to sleep. */
  boolean isResting() {
    for (int i = 0; i < active.size(); i++) {
      if (!active.get(i).resting) {
        return false;
      }
    }
    return true;
  }

  /**
   * How long those that wait for leave to sleep may wait until the next look, in nanoseconds: the
   * longer it is since they had something to do. Not beyond the next turn of one that waits for it.
   */
  long restNs(long nowNs) {
    long waited = 4 * MAX_REST_NS;
    long turnNs = MAX_REST_NS;
    for (int i = 0; i < active.size(); i++) {
      final Session session = active.get(i);
      waited = Math.min(waited, nowNs - session.lastWorkNs);
      if (session.awaitsTurn) {
        turnNs = Math.min(turnNs, session.nextTurnNs - nowNs);
      }
    }
    return Math.max(0, Math.min(turnNs, Math.max(MIN_REST_NS, waited / 4)));
  }
}
