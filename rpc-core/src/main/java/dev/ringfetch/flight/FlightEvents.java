package dev.ringfetch.flight;

import org.jspecify.annotations.Nullable;

/**
 * The events that Ringfetch writes into a recording of Java Flight Recorder; docs/flight-events.md
 * lists them. In a Java without the module {@code jdk.jfr} there are none. Thread-safe.
 *
 * <p>No call passes here, and a poller does when it sleeps. An event that no recording wants costs
 * its caller a check.
 */
public final class FlightEvents {
  private static final boolean THERE = isThere();

  private FlightEvents() {}

  private static boolean isThere() {
    try {
      RecordedEvents.load();
      return true;
    } catch (LinkageError e) { // the module is missing, or not resolved
      return false;
    }
  }

  /** The end of a session that a process has. */
  public enum Side {
    /** The end that calls. */
    CLIENT,
    /** The end that answers. */
    SERVER
  }

  /**
   * Reports a session that has opened.
   *
   * @param peer the client's backend, or the address of the server's client; a recording has it as
   *     text.
   */
  public static void opened(Side side, @Nullable Object peer, String fabric) {
    if (THERE) {
      RecordedEvents.opened(side, peer, fabric);
    }
  }

  /**
   * Reports a session that has ended.
   *
   * @param peer as when it opened.
   * @param calls that it has carried.
   */
  public static void ended(Side side, @Nullable Object peer, String reason, long calls) {
    if (THERE) {
      RecordedEvents.ended(side, peer, reason, calls);
    }
  }

  /** Reports why a channel has no ring to a backend. */
  public static void fellBack(Object backend, String reason) {
    if (THERE) {
      RecordedEvents.fellBack(backend, reason);
    }
  }

  /** Reports that the calling thread has taken a poller over from the one that a task keeps. */
  public static void tookOver(String poller) {
    if (THERE) {
      RecordedEvents.tookOver(poller);
    }
  }

  /** Begins the event of the poller's thread that sleeps; null if no recording wants it. */
  public static @Nullable Object beginSleep() {
    return THERE ? RecordedEvents.beginSleep() : null;
  }

  /** Ends the event of a poller that slept. */
  public static void endSleep(@Nullable Object begun) {
    if (begun != null) {
      RecordedEvents.endSleep(begun);
    }
  }
}
