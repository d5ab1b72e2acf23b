package dev.ringfetch.session;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.fabric.QueuePair;

/** The handler of a queue pair's events for its session, on the poller's thread. */
record FabricEvents(Session session) implements QueuePair.Listener {
  @Override
  public void onDoorbell() {
    session.tally.add(Counter.SESSION_WAKEUPS_RECEIVED, 1);
    session.carrier.onRing();
    session.poller.activate(session.entry);
  }

  @Override
  public void onDisconnected(String reason) {
    session.end(reason);
  }
}
