package dev.ringfetch.session.carrier;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Tally;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.ring.ControlFlyweight;
import dev.ringfetch.ring.RingWriter;
import dev.ringfetch.session.owner.OwnedBy;

/** The transfer of this side's frames and control line to the peer, and the wake-up of the peer. */
@OwnedBy("session")
public abstract class Delivery {
  protected final QueuePair queuePair;
  protected final MemoryRegion memory;
  protected final RingWriter writer;
  public final ControlFlyweight ownControl;
  protected final ControlFlyweight peerControl;
  protected final Tally tally;

  /** Creates the delivery of the data that is written to these rings. */
  protected Delivery(Tally tally, RingPair rings) {
    this.tally = tally;
    this.queuePair = rings.queuePair();
    this.memory = queuePair.memory();
    this.writer = rings.writer();
    this.ownControl = rings.ownControl();
    this.peerControl = rings.peerControl();
  }

  /** Called when frames were written. */
  public abstract void onWritten();

  /**
   * Called when frames were written, including some that the peer does not expect, and so does not
   * poll for.
   */
  public abstract void onWrittenUnsolicited();

  /** True while the peer has output and no credit, as far as this side can tell. */
  public abstract boolean isPeerBlocked();

  /** Wakes a peer without credit, after this side has published its position and fenced. */
  public abstract void wakeBlockedPeer();

  /** How many reads of this side's registered memory the peer has done, as far as is known. */
  public long peerReleased() {
    return peerControl.released();
  }

  /** Hands over what is due; at the end of every round, where it is not done by storing. */
  public abstract void flush();

  /** True when the send queue had no room for all that is due: another round follows. */
  public abstract boolean isBehind();

  /** True when something is under way that the peer may go to sleep over. */
  public boolean isUncertain() {
    return isBehind();
  }

  /** Counts events that are not counted as they happen. */
  public void count() {}

  protected final void ring() {
    queuePair.ringDoorbell();
    tally.add(Counter.SESSION_WAKEUPS_SENT, 1);
  }
}
