package dev.ringfetch.session;

import dev.ringfetch.fabric.HeapFabric;
import dev.ringfetch.fabric.shm.SharedSlices;
import dev.ringfetch.session.poller.Poller;

/** Sessions without a peer, over mapped memory. */
final class Sessions {
  static final SessionContext CONTEXT = new SessionContext().spinNs(0);

  private static final SharedSlices SLICES = new SharedSlices(CountingSession.MEMORY_LENGTH);

  private Sessions() {}

  /** A session whose poller nobody runs. */
  static CountingSession counting() {
    final HeapFabric fabric = SLICES.connect();
    return new CountingSession(fabric, new Poller(fabric.serverDoorbell(), CONTEXT), CONTEXT);
  }

  /** A session of this poller. */
  static CountingSession counting(Poller poller) {
    return new CountingSession(SLICES.connect(), poller, CONTEXT);
  }
}
