package dev.ringfetch.session.remote;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Tally;
import dev.ringfetch.session.carrier.RingPair;

/** The counts that both sides of a session without common memory keep of their rings. */
final class RemoteCounts {
  private RemoteCounts() {}

  static void count(Tally tally, RingPair rings) {
    tally.set(Counter.SESSION_FRAMES_TORN, rings.poller().torn());
    tally.set(Counter.SESSION_LINES_SENT, rings.ownControl().publications());
  }
}
