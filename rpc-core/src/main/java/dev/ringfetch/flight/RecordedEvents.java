package dev.ringfetch.flight;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;
import org.jspecify.annotations.Nullable;

/** The classes of the events, which need the module {@code jdk.jfr}: loaded only where it is. */
@SuppressWarnings("unused") // the recorder reads the fields
final class RecordedEvents {
  /** Tells whether a recording wants sleeps, so that none is allocated otherwise. */
  private static final PollerSleep SLEEP = new PollerSleep();

  private RecordedEvents() {}

  /** Loads this class, or throws a LinkageError. */
  static void load() {}

  static void opened(FlightEvents.Side side, @Nullable Object peer, String fabric) {
    final SessionOpened event = new SessionOpened();
    if (event.isEnabled()) {
      event.side = side.name();
      event.peer = String.valueOf(peer);
      event.fabric = fabric;
      event.commit();
    }
  }

  static void ended(FlightEvents.Side side, @Nullable Object peer, String reason, long calls) {
    final SessionEnded event = new SessionEnded();
    if (event.isEnabled()) {
      event.side = side.name();
      event.peer = String.valueOf(peer);
      event.reason = reason;
      event.calls = calls;
      event.commit();
    }
  }

  static void fellBack(Object backend, String reason) {
    final Fallback event = new Fallback();
    if (event.isEnabled()) {
      event.backend = backend.toString();
      event.reason = reason;
      event.commit();
    }
  }

  static void tookOver(String poller) {
    final TakeOver event = new TakeOver();
    if (event.isEnabled()) {
      event.poller = poller;
      event.commit();
    }
  }

  static @Nullable Object beginSleep() {
    if (!SLEEP.isEnabled()) {
      return null;
    }
    final PollerSleep event = new PollerSleep();
    event.begin();
    return event;
  }

  static void endSleep(Object begun) {
    ((PollerSleep) begun).commit();
  }

  @Name("dev.ringfetch.SessionOpened")
  @Label("Session Opened")
  @Category("Ringfetch")
  @Description("A ring between a client and a server is there")
  @StackTrace(false)
  private static final class SessionOpened extends Event {
    @Label("Side")
    String side;

    @Label("Peer")
    String peer;

    @Label("Fabric")
    String fabric;
  }

  @Name("dev.ringfetch.SessionEnded")
  @Label("Session Ended")
  @Category("Ringfetch")
  @Description("A ring is no more")
  @StackTrace(false)
  private static final class SessionEnded extends Event {
    @Label("Side")
    String side;

    @Label("Peer")
    String peer;

    @Label("Reason")
    String reason;

    @Label("Calls")
    long calls;
  }

  @Name("dev.ringfetch.Fallback")
  @Label("Fallback")
  @Category("Ringfetch")
  @Description("A channel has no ring to a backend")
  @StackTrace(false)
  private static final class Fallback extends Event {
    @Label("Backend")
    String backend;

    @Label("Reason")
    String reason;
  }

  @Name("dev.ringfetch.TakeOver")
  @Label("Take-over")
  @Category("Ringfetch")
  @Description("A backup thread has taken a poller over")
  @StackTrace(false)
  private static final class TakeOver extends Event {
    @Label("Poller")
    String poller;
  }

  @Name("dev.ringfetch.PollerSleep")
  @Label("Poller Sleep")
  @Category("Ringfetch")
  @Description("A poller has slept at its doorbell")
  @StackTrace(false)
  @Threshold("100 ms")
  private static final class PollerSleep extends Event {}
}
