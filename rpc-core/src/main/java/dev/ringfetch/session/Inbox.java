package dev.ringfetch.session;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Tally;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.ring.ControlFlyweight;
import dev.ringfetch.ring.RingPoller;

/**
 * This side's end of the ring that the peer writes: takes its frames, credits the peer with the
 * room, and has the peer ring when nobody polls. Belongs to the owner of the session.
 */
final class Inbox {
  private static final int POLL_LIMIT = 64; // slots; then others have their turn

  private final Session session;
  private final QueuePair queuePair;
  private final MemoryRegion memory;
  private final RingPoller ring;
  private final ControlFlyweight ownControl;
  private final ControlFlyweight peerControl;
  private final long tellThreshold;
  private final Tally tally;

  private boolean armed;
  private boolean violated;

  /** Creates the inbox; the session is told of every frame. */
  Inbox(Session session, RingPair rings) {
    this.session = session;
    this.queuePair = rings.queuePair();
    this.memory = queuePair.memory();
    this.ring = rings.poller();
    this.ownControl = rings.ownControl();
    this.peerControl = rings.peerControl();
    this.tellThreshold = ring.slots() / 4;
    this.tally = session.tally;
  }

  /** Takes some of what came in, and returns how many frames that were. */
  int poll() {
    final int frames = ring.poll(session, POLL_LIMIT);
    if (frames == RingPoller.PROTOCOL_VIOLATION) {
      violated = true;
      session.ending.blame("the peer broke the protocol");
      return 0;
    }
    creditPeer();
    return frames;
  }

  /** Takes all that is committed, at the session's end: as much as a sane peer can have put in. */
  void drain() {
    if (!violated) {
      ring.poll(session, ring.slots());
    }
  }

  /** Tells the peer what was consumed: now and then, and at once when it waits for that. */
  private void creditPeer() {
    final long untold = ring.untold();
    if (untold != 0 && (untold >= tellThreshold || peerControl.blocked())) {
      ring.tellConsumed();
      ownControl.publish();
      memory.fullFence();
      wakeBlockedPeer();
    }
  }

  private void wakeBlockedPeer() {
    if (peerControl.blocked() && peerControl.sleeping()) {
      queuePair.ringDoorbell();
      tally.add(Counter.SESSION_WAKEUPS_SENT, 1);
    }
  }

  /** True when there is a frame, or the padding before one. */
  boolean hasNext() {
    return ring.hasNext();
  }

  /** True while the peer is to ring. */
  boolean isArmed() {
    return armed;
  }

  /**
   * Makes the peer ring from now on: says so first, then looks once more.
   *
   * @return false when something had come in by then, and the inbox is not armed.
   */
  boolean arm() {
    armed = true;
    ring.tellConsumed();
    ownControl.sleeping(true);
    ownControl.publish();
    memory.fullFence();
    if (ring.hasNext()) {
      disarm();
      return false;
    }
    wakeBlockedPeer();
    return true;
  }

  /** Stops the peer from ringing, which it was armed for: somebody polls. */
  void disarm() {
    armed = false;
    ownControl.sleeping(false);
    ownControl.publish();
  }
}
