package dev.ringfetch.session;

import dev.ringfetch.counters.Tally;
import dev.ringfetch.fabric.CompletionQueue;
import dev.ringfetch.fabric.QueuePair;

/**
 * From a server to a client that has memory of its own: pushed while the client does not fetch,
 * otherwise left where it stands. What was left is pushed in the first round that finds the client
 * not fetching any more, unless it was consumed by then.
 *
 * <p>The client's words are looked at after a fence behind the stores. A client that goes to sleep
 * writes its words, then reads: so what that read misses is pushed and rung for, here.
 */
final class ServerDelivery extends Delivery {
  private static final int COMPLETIONS = 16; // a poll
  private static final CompletionQueue.Handler IGNORED = (id, status, value) -> {};

  private boolean waking; // a ring is due, after what it is for
  private boolean behind;

  ServerDelivery(Tally tally, RingPair rings) {
    super(tally, rings);
  }

  @Override
  void onWritten() {
    memory.fullFence();
    waking |= peerControl.sleeping();
    flush();
  }

  @Override
  void onWrittenUnsolicited() {
    waking = true;
    flush();
  }

  @Override
  boolean isPeerBlocked() {
    return peerControl.blocked();
  }

  @Override
  void wakeBlockedPeer() {
    if (peerControl.blocked() && peerControl.sleeping()) {
      waking = true;
      flush();
    }
  }

  @Override
  void flush() {
    behind = false;
    if (!waking && peerControl.fetching()) {
      return;
    }
    int posted = writer.publish();
    if (posted == QueuePair.POSTED) {
      posted = ownControl.publish();
    }
    if (posted == QueuePair.SEND_QUEUE_FULL) {
      behind = true;
      queuePair.completions().poll(IGNORED, COMPLETIONS);
    } else if (waking) {
      waking = false;
      ring();
    }
  }

  @Override
  boolean isBehind() {
    return behind;
  }
}
