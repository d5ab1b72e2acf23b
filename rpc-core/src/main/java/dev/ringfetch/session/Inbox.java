package dev.ringfetch.session;

import dev.ringfetch.counters.Tally;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.ring.ControlFlyweight;
import dev.ringfetch.ring.RingPoller;

/**
 * This side's end of the ring that the peer writes: takes its frames, credits the peer with the
 * room, and has the peer ring when nobody polls. Belongs to the owner of the session.
 */
abstract class Inbox {
  static final int POLL_LIMIT = 64; // slots; then others have their turn

  final Session session;
  final MemoryRegion memory;
  final RingPoller ring;
  final ControlFlyweight ownControl;
  final Delivery delivery;
  final Tally tally;
  private final long tellThreshold;

  private boolean violated;

  Inbox(Session session, RingPair rings) {
    this.session = session;
    this.memory = rings.queuePair().memory();
    this.ring = rings.poller();
    this.ownControl = rings.ownControl();
    this.delivery = session.delivery;
    this.tellThreshold = ring.slots() / 4;
    this.tally = session.tally;
  }

  /** Takes some of what came in, and returns how many frames that were. */
  abstract int poll();

  /** Takes all that is committed and can be reached, at the session's end. */
  abstract void drain();

  /** True while the peer is to ring, or was told so. */
  abstract boolean isArmed();

  /**
   * Makes the peer ring from now on, if that can be had at once: says so first, then looks once
   * more.
   *
   * @return false when something had come in by then, or it cannot be had at once, and the inbox is
   *     not armed.
   */
  abstract boolean arm();

  /** Stops the peer from ringing: somebody polls. */
  abstract void disarm();

  /** True while the peer was told, and it is not known whether something had come in by then. */
  abstract boolean isSettling();

  /**
   * As {@link #arm}, from a thread that comes back: begins what cannot be had at once, and goes on
   * with it.
   *
   * @return true when the inbox is armed.
   */
  abstract boolean settle();

  /** What is to be handed to the fabric at the end of a round; not where both load one memory. */
  abstract void endRound();

  /** Counts what is not counted as it happens. */
  void count() {}

  /** True when there is a frame, or the padding before one, in memory of this side. */
  final boolean hasNext() {
    return ring.hasNext();
  }

  /** Takes note of what a poll has returned, and returns how many frames that were. */
  final int taken(int frames) {
    if (frames == RingPoller.PROTOCOL_VIOLATION) {
      violated = true;
      session.ending.blame("the peer broke the protocol");
      return 0;
    }
    return frames;
  }

  /** True when what comes in is not to be believed any more. */
  final boolean isViolated() {
    return violated;
  }

  /** Tells the peer what was consumed: now and then, and at once when it waits for that. */
  final void creditPeer() {
    final long untold = ring.untold();
    if (untold == 0) {
      return;
    }
    final boolean awaited = delivery.isPeerBlocked();
    if (awaited) {
      session.onInboundFull();
    }
    if (awaited || untold >= tellThreshold) {
      ring.tellConsumed();
      memory.fullFence();
      delivery.wakeBlockedPeer();
    }
  }
}
