package dev.ringfetch.session.remote;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Tally;
import dev.ringfetch.fabric.CompletionRouter;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.ring.HintSender;
import dev.ringfetch.session.carrier.Delivery;
import dev.ringfetch.session.carrier.RingPair;
import org.jspecify.annotations.Nullable;

/**
 * The delivery from a server to a client without common memory: pushes answers while the client
 * does not fetch, and leaves them in the server's ring otherwise. The first round that finds the
 * client not fetching any more pushes the frames that were left, unless they were consumed by then.
 * A client with datagrams also gets one with each frame that is left.
 *
 * <p>The client's words are looked at after a fence behind the stores. A client that goes to sleep
 * writes its words, then reads: so this side pushes the frames that the read misses, and rings.
 */
public final class ServerDelivery extends Delivery {
  private static final int COMPLETIONS = 16; // a poll

  private final CompletionRouter completions;
  private final @Nullable HintSender hints;
  private boolean waking; // a ring is due, after what it is for
  private boolean behind;

  ServerDelivery(Tally tally, RingPair rings) {
    super(tally, rings);
    this.completions = rings.completions();
    this.hints = rings.hintSender();
  }

  @Override
  public void onWritten() {
    memory.fullFence();
    waking |= peerControl.sleeping();
    flush();
  }

  @Override
  public void onWrittenUnsolicited() {
    waking = true;
    flush();
  }

  @Override
  public boolean isPeerBlocked() {
    return peerControl.blocked();
  }

  @Override
  public void wakeBlockedPeer() {
    if (peerControl.blocked() && peerControl.sleeping()) {
      waking = true;
      flush();
    }
  }

  @Override
  public void flush() {
    behind = false;
    if (!waking && peerControl.fetching()) {
      if (hints != null) {
        hints.flush();
      }
      return;
    }
    if (hints != null) {
      hints.drop();
    }
    int posted = writer.publish();
    if (posted == QueuePair.POSTED) {
      posted = ownControl.publish();
    }
    if (posted == QueuePair.SEND_QUEUE_FULL) {
      behind = true;
      completions.poll(COMPLETIONS);
    } else if (waking) {
      waking = false;
      ring();
    }
  }

  /** True while the client reads its answers. */
  boolean isFetched() {
    return peerControl.fetching();
  }

  /**
   * Tells the client when it should send, also one that fetches. False when the send queue has no
   * room: another round follows.
   */
  boolean tellTurn(long stamp, int beginNs, int lengthNs, int periodNs) {
    ownControl.turn(stamp, beginNs, lengthNs, periodNs);
    behind = ownControl.publish() == QueuePair.SEND_QUEUE_FULL;
    if (behind) {
      completions.poll(COMPLETIONS);
    }
    return !behind;
  }

  @Override
  public boolean isBehind() {
    return behind;
  }

  @Override
  public void count() {
    if (hints != null) {
      tally.set(Counter.SESSION_HINTS_SENT, hints.sent());
      tally.set(Counter.SESSION_HINTS_UNSENT, hints.unsent());
    }
  }
}
