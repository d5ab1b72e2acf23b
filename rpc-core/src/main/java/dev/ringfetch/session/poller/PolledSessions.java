package dev.ringfetch.session.poller;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Tally;
import java.util.ArrayList;
import java.util.List;

/**
 * The sessions of a poller, and which of them it polls. Belongs to the holder of the poller's duty.
 */
public final class PolledSessions {
  private static final long MIN_REST_NS = 20_000;
  private static final long MAX_REST_NS = 1_000_000;

  private final Tally tally;
  private final List<PollerEntry> all = new ArrayList<>();
  private final List<PollerEntry> active = new ArrayList<>();

  PolledSessions(Tally tally) {
    this.tally = tally;
  }

  void add(PollerEntry entry) {
    entry.place = all.size();
    all.add(entry);
    tally.set(Counter.POLLER_SESSIONS, all.size());
  }

  /** The last of the sessions takes its place: who has many of them looks for none. */
  void remove(PollerEntry entry) {
    final int place = entry.place;
    if (place < all.size() && all.get(place) == entry) {
      final PollerEntry last = all.remove(all.size() - 1);
      if (last != entry) {
        all.set(place, last);
        last.place = place;
      }
    }
    tally.set(Counter.POLLER_SESSIONS, all.size());
    drop(entry);
  }

  int size() {
    return all.size();
  }

  PollerEntry get(int index) {
    return all.get(index);
  }

  /** All sessions as of now, for who may add or remove some meanwhile. */
  List<PollerEntry> copy() {
    return List.copyOf(all);
  }

  /** Polls a session from now on. */
  void activate(PollerEntry entry) {
    entry.resting = false;
    if (!entry.active) {
      active.add(entry);
      entry.active = true;
      entry.polled(true);
      tally.set(Counter.POLLER_SESSIONS_POLLED, active.size());
    }
  }

  /** Polls a session no longer. */
  void drop(PollerEntry entry) {
    active.remove(entry);
    entry.active = false;
    entry.polled(false);
    tally.set(Counter.POLLER_SESSIONS_POLLED, active.size());
  }

  int activeCount() {
    return active.size();
  }

  PollerEntry active(int index) {
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
      final PollerEntry entry = active.get(i);
      waited = Math.min(waited, nowNs - entry.lastWorkNs);
      if (entry.isAwaitingTurn()) {
        turnNs = Math.min(turnNs, entry.nextTurnNs() - nowNs);
      }
    }
    return Math.max(0, Math.min(turnNs, Math.max(MIN_REST_NS, waited / 4)));
  }
}
