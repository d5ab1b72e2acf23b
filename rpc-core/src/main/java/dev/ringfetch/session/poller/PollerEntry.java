package dev.ringfetch.session.poller;

import dev.ringfetch.counters.Subject;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.session.owner.OwnedBy;
import org.jspecify.annotations.Nullable;

/**
 * A session's entry with its {@link Poller}: the poller's own state of the session, and the values
 * that the owner of the session stores for the poller. One for each session.
 */
public final class PollerEntry {
  final PolledSession session;
  final MemoryRegion memory;
  final EarliestDeadline deadline = new EarliestDeadline(this);
  final @Nullable Timetable timetable;

  /**
   * Set while the poller looks at the session in every round. Where both sides load one memory it
   * is cleared before the poller, as the owner, looks for the last time: a thread that leaves the
   * session while it is set need not arm it, since the poller comes later than that, or finds the
   * token taken and is called back. Behind a card it means no more than that the poller looks.
   */
  private volatile boolean polled;

  // Used by the poller.
  int place; // among the poller's sessions
  int activePlace; // among those that it polls
  public boolean active;
  boolean resting; // for so long that the poller may sleep meanwhile
  long lastWorkNs;
  @Nullable InlineTask firstInLine; // of those tasks to be run inline
  InlineTask lastInLine;
  PollerEntry nextInLine; // after this one's turn
  volatile Subject subject; // as which it is listed

  // Written by the session's owner; the poller reads them when it retires the session.
  private boolean settling;
  private boolean awaitsTurn;
  private long nextTurnNs;
  private volatile long lingerNs;

  /**
   * Creates the entry; no poller serves the session yet.
   *
   * @param memory of the session, which is checked for faults.
   * @param timetable that the session is in, or null.
   */
  public PollerEntry(PolledSession session, MemoryRegion memory, Timetable timetable) {
    this.session = session;
    this.memory = memory;
    this.timetable = timetable;
  }

  /** True while the poller looks at the session in every round. Any thread. */
  public boolean isPolled() {
    return polled;
  }

  /** The poller looks at the session in every round from now on, or no longer. */
  void polled(boolean now) {
    polled = now;
  }

  /** Called before the poller's last look; the poller, as the owner. */
  public void lastLook() {
    if (polled) {
      polled = false;
    }
  }

  /** Publishes the present earliest deadline. True when the poller has to be called. */
  @OwnedBy("session")
  public boolean publishDeadline(long earliestNs) {
    return deadline.publish(earliestNs);
  }

  /** The earliest deadline as of the last {@link #publishDeadline}. Any thread. */
  public long publishedDeadlineNs() {
    return deadline.publishedNs();
  }

  /**
   * The session's way to sleep, as of the poller's last visit.
   *
   * @param takesTime whether it has begun, and the poller may sleep between looks meanwhile.
   */
  @OwnedBy("session")
  public void settling(boolean takesTime) {
    settling = takesTime;
  }

  /** Sets whether output waits for a turn. Called on the poller's thread. */
  @OwnedBy("session")
  public void awaitsTurn(boolean waits, long turnNs) {
    awaitsTurn = waits;
    nextTurnNs = turnNs;
  }

  /** How long the session is polled at the least after something came, in nanoseconds. */
  public void linger(long nanos) {
    lingerNs = nanos;
  }

  boolean isSettling() {
    return settling;
  }

  boolean isAwaitingTurn() {
    return awaitsTurn;
  }

  long nextTurnNs() {
    return nextTurnNs;
  }

  long lingerNs() {
    return lingerNs;
  }
}
