package dev.ringfetch.session.carrier;

import dev.ringfetch.counters.Tally;

/** To a peer that loads from the same memory: what is stored is delivered. */
final class StoreDelivery extends Delivery {
  private static final long NEVER = -1;

  /**
   * What the peer had consumed when it was rung last for more than that. It consumes what it was
   * rung for before it sleeps again, and tells so first: while it has not, it is the same sleep,
   * whose ring it will hear.
   */
  private long rungAt = NEVER;

  StoreDelivery(Tally tally, RingPair rings) {
    super(tally, rings);
  }

  @Override
  public void onWritten() {
    writer.publish();
    memory.fullFence();
    if (peerControl.sleeping()) { // loaded first: it is told last
      final long consumed = peerControl.consumed();
      if (consumed != rungAt && consumed != writer.position()) {
        ring();
        rungAt = consumed;
      }
    }
  }

  @Override
  public void onWrittenUnsolicited() {
    writer.publish();
    memory.fullFence();
    ring();
  }

  @Override
  public boolean isPeerBlocked() {
    return peerControl.blocked();
  }

  @Override
  public void wakeBlockedPeer() {
    if (peerControl.blocked() && peerControl.sleeping()) {
      ring();
    }
  }

  @Override
  public void flush() {}

  @Override
  public boolean isBehind() {
    return false;
  }
}
