package dev.ringfetch.session.carrier;

import dev.ringfetch.counters.Tally;
import org.agrona.concurrent.NanoClock;

/** The delivery to a peer that loads from the same memory: stored data is delivered. */
final class StoreDelivery extends Delivery {
  /**
   * After how long a sleeper that was rung is rung again for what is written then. It has heard the
   * first ring, or is stopped; if it has heard it and consumed nothing, it is to look what stands
   * in the place of the frame that it was rung for.
   */
  private static final long AGAIN_NS = HeadWatch.PATIENCE_NS;

  private final NanoClock clock;

  /**
   * What the peer had consumed when it was rung last for more than that. It consumes what it was
   * rung for before it sleeps again, and tells so first: while it has not, it is the same sleep,
   * and it will notice the ring of that one. Undefined before the first ring, since every value is
   * a position.
   */
  private long rungAt;

  private boolean hasRung;
  private long rungNs;

  StoreDelivery(Tally tally, RingPair rings, NanoClock clock) {
    super(tally, rings);
    this.clock = clock;
  }

  @Override
  public void onWritten() {
    writer.publish();
    memory.fullFence();
    if (peerControl.sleeping()) { // loaded first: it is told last
      final long consumed = peerControl.consumed();
      if (consumed != writer.position()) {
        ringOnce(consumed);
      }
    }
  }

  private void ringOnce(long consumed) {
    final long now = clock.nanoTime();
    if (!(hasRung && consumed == rungAt) || now - rungNs >= AGAIN_NS) {
      ring();
      rungAt = consumed;
      rungNs = now;
      hasRung = true;
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
