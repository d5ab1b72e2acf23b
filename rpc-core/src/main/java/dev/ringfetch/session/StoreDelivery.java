package dev.ringfetch.session;

import dev.ringfetch.counters.Tally;

/** To a peer that loads from the same memory: what is stored is delivered. */
final class StoreDelivery extends Delivery {
  /**
   * What the peer had consumed when it was rung last for more than that. It consumes what it was
   * rung for before it sleeps again, and tells so first: while it has not, it is the same sleep,
   * whose ring it will hear. Means nothing before the first ring: every value is a position.
   */
  private long rungAt;

  private boolean hasRung;

  StoreDelivery(Tally tally, RingPair rings) {
    super(tally, rings);
  }

  @Override
  void onWritten() {
    writer.publish();
    memory.fullFence();
    if (peerControl.sleeping()) { // loaded first: it is told last
      final long consumed = peerControl.consumed();
      if (!(hasRung && consumed == rungAt) && consumed != writer.position()) {
        ring();
        rungAt = consumed;
        hasRung = true;
      }
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
