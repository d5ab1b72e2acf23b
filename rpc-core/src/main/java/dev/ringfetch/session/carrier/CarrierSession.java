package dev.ringfetch.session.carrier;

import dev.ringfetch.ring.RingPoller;
import dev.ringfetch.session.owner.OwnedBy;
import dev.ringfetch.session.poller.Poller;

/** The interface of a session for its {@link Carrier}, which passes frames to it. */
@OwnedBy("session")
public interface CarrierSession extends RingPoller.FrameHandler {
  /** Ends the session with this round, because the peer broke a rule. */
  void blame(String why);

  /** The memory of the session is about to be accessed out of turn. */
  void touch();

  /** The peer has no room for a frame, as its line says. */
  void onInboundFull();

  /** The earliest deadline of a stream, or {@link Long#MAX_VALUE}. */
  long earliestDeadlineNs();

  /** True while the peer owes this side frames. */
  boolean expectsFrames();

  /** True while there is output and no credit for it. */
  boolean isOutputBlocked();

  /** True while the peer has registered memory of this side to read. */
  boolean awaitsRelease();

  /** True while the poller looks at the session in every round. */
  boolean isPolled();

  /** The poller that serves the session. */
  Poller poller();

  /** The poller looks at the session for so long, at the least, after something came. */
  void linger(long nanos);
}
