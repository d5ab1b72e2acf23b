package dev.ringfetch.session;

import dev.ringfetch.counters.Tally;

/** To a peer that loads from the same memory: what is stored is delivered. */
final class StoreDelivery extends Delivery {
  StoreDelivery(Tally tally, RingPair rings) {
    super(tally, rings);
  }

  @Override
  void onWritten() {
    writer.publish();
    memory.fullFence();
    if (peerControl.sleeping()) {
      ring();
    }
  }

  @Override
  void onWrittenUnsolicited() {
    writer.publish();
    memory.fullFence();
    ring();
  }

  @Override
  boolean isPeerBlocked() {
    return peerControl.blocked();
  }

  @Override
  void wakeBlockedPeer() {
    if (peerControl.blocked() && peerControl.sleeping()) {
      ring();
    }
  }

  @Override
  void flush() {}

  @Override
  boolean isBehind() {
    return false;
  }
}
