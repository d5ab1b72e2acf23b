package dev.ringfetch.session.poller;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Tally;
import java.util.ArrayList;
import java.util.List;

/**
 * The sessions of a poller, and which of them it polls. Used by the thread that drives the poller.
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

  /** Removes in constant time: the last session moves into the gap of each list. */
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

  /** A copy of the list of sessions, for iterations during which some may be added or removed. */
  List<PollerEntry> copy() {
    return List.copyOf(all);
  }

  /** Polls a session from now on. */
  void activate(PollerEntry entry) {
    entry.resting = false;
    if (!entry.active) {
      entry.activePlace = active.size();
      active.add(entry);
      entry.active = true;
      entry.polled(true);
      tally.set(Counter.POLLER_SESSIONS_POLLED, active.size());
    }
  }

  /** Polls a session no longer. */
  void drop(PollerEntry entry) {
    if (entry.active) {
      final PollerEntry last = active.remove(active.size() - 1);
      if (last != entry) {
        active.set(entry.activePlace, last);
        last.activePlace = entry.activePlace;
      }
      entry.active = false;
    }
    entry.polled(false);
    tally.set(Counter.POLLER_SESSIONS_POLLED, active.size());
  }

  int activeCount() {
    return active.size();
  }

  PollerEntry active(int index) {
    return active.get(index);
  }

  /** True when no session is busy, except for those that have been settling for long. */
  boolean isResting() {
    for (int i = 0; i < active.size(); i++) {
      if (!active.get(i).resting) {
        return false;
      }
    }
    return true;
  }

  /**
   * How long settling sessions may wait until the next look, in nanoseconds: the longer, the longer
   * they have been idle. Not beyond the next turn of a session that waits for it.
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
