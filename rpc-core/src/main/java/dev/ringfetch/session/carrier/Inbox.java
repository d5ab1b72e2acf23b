package dev.ringfetch.session.carrier;

import dev.ringfetch.counters.Tally;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.ring.ControlFlyweight;
import dev.ringfetch.ring.RingPoller;
import dev.ringfetch.session.owner.OwnedBy;

/**
 * This side's end of the ring that the peer writes: takes its frames, credits the peer with the
 * room, and makes the peer ring when no thread polls.
 */
@OwnedBy("session")
public abstract class Inbox {
  public static final int POLL_LIMIT = 64; // slots; then others have their turn

  protected final CarrierSession session;
  protected final MemoryRegion memory;
  protected final RingPoller ring;
  protected final ControlFlyweight ownControl;
  protected final Delivery delivery;
  protected final Tally tally;
  private final long tellThreshold;

  private boolean violated;

  /** Creates the end of a ring; the delivery transfers its credit. */
  protected Inbox(CarrierParts parts, Delivery delivery) {
    final RingPair rings = parts.rings();
    this.session = parts.session();
    this.memory = rings.queuePair().memory();
    this.ring = rings.poller();
    this.ownControl = rings.ownControl();
    this.delivery = delivery;
    this.tellThreshold = ring.slots() / 4;
    this.tally = parts.tally();
  }

  /** Takes some inbound frames, and returns their number. */
  public abstract int poll();

  /** Takes all committed frames that can be reached, at the session's end. */
  public abstract void drain();

  /** True while the peer is to ring, or was told so. */
  public abstract boolean isArmed();

  /**
   * Makes the peer ring from now on, if that can be had at once: says so first, then looks once
   * more.
   *
   * @return false when something had come in by then, or it cannot be had at once, and the inbox is
   *     not armed.
   */
  public abstract boolean arm();

  /** Stops the peer from ringing, because a thread polls. */
  public abstract void disarm();

  /** True while the peer was told, and it is not known whether something had come in by then. */
  public abstract boolean isSettling();

  /**
   * As {@link #arm}, from a thread that comes back: begins what cannot be had at once, and goes on
   * with it.
   *
   * @return true when the inbox is armed.
   */
  public abstract boolean settle();

  /** Hands the output of a round to the fabric; nothing where both sides load one memory. */
  public abstract void endRound();

  /** Counts events that are not counted as they happen. */
  public void count() {}

  /** True when there is a frame, or the padding before one, in memory of this side. */
  public final boolean hasNext() {
    return ring.hasNext();
  }

  /** Takes note of what a poll has returned, and returns how many frames that were. */
  protected final int taken(int frames) {
    if (frames == RingPoller.PROTOCOL_VIOLATION) {
      violated = true;
      session.blame("the peer broke the protocol");
      return 0;
    }
    return frames;
  }

  /** True when inbound data is not to be trusted any more. */
  protected final boolean isViolated() {
    return violated;
  }

  /** Tells the peer what was consumed: now and then, and at once when it waits for that. */
  protected final void creditPeer() {
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
