package dev.ringfetch.session;

import dev.ringfetch.session.ClientStream.Outcome;
import dev.ringfetch.session.unit.Unit;

/** The server's end of a simulated stream. */
final class SimServerFlow extends SimFlow {
  private final ServerSession session;
  private final ServerStream served;
  private final boolean early;
  private boolean cancelled;
  private boolean sent;

  /** One that answers a whole request in several units, and nothing else comes in. */
  SimServerFlow(SimServer server, ServerSession session, ServerStream stream, SimScript out) {
    this(server, session, stream, out, SimScript.nothing(), true);
  }

  private SimServerFlow(
      SimServer server,
      ServerSession session,
      ServerStream stream,
      SimScript out,
      SimScript in,
      boolean early) {
    super(server, session, stream, stream.flow(), out, in, SimCall.MAX_INBOUND_LENGTH);
    this.session = session;
    this.served = stream;
    this.early = early;
  }

  /** The end of a client's stream, whose first unit was taken. */
  static SimServerFlow of(
      SimServer server,
      ServerSession session,
      ServerStream stream,
      SimStreamCall call,
      Unit first) {
    final SimServerFlow flow =
        new SimServerFlow(server, session, stream, call.down, call.up, call.early);
    flow.first(first, false);
    call.accepted(flow);
    return flow;
  }

  /** Told by the session, at most once, and not when all was sent. */
  void onCancelled() {
    simulation.check(!sent && !flow().isSent(), "cancelled when all was sent");
    cancelled = true;
  }

  @Override
  boolean mayEnd() {
    return early || hasEnded();
  }

  @Override
  void lookForEnd() {
    if (!sent && flow().isSent()) {
      simulation.check(hasOffered(), "sent what was not written");
      simulation.check(!cancelled, "sent and cancelled");
      sent = true;
      over();
    }
  }

  @Override
  boolean isEnd(Unit unit) {
    return false;
  }

  @Override
  void onOutcome(Outcome outcome) {
    simulation.check(false, "the server's end is told an outcome: " + outcome);
  }

  @Override
  boolean canGoOn(long nowNs) {
    return !isOver() && (cancelled || super.canGoOn(nowNs));
  }

  /** Some time after a cancel it lets go; until then it goes on, for nobody. */
  @Override
  void step() {
    if (cancelled && (simulation.isQuiet() || simulation.timeline.oneIn(4))) {
      over();
      session.release(served);
    } else {
      super.step();
    }
  }
}
