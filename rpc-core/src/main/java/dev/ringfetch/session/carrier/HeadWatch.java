package dev.ringfetch.session.carrier;

import dev.ringfetch.ring.RingPoller;
import dev.ringfetch.session.owner.OwnedBy;
import dev.ringfetch.session.poller.Dated;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.NanoClock;

/**
 * The watch over the head of the ring that this side polls: ends the session when the words there
 * cannot come from a writer that keeps to the order of its stores, wherever it was stopped. Then
 * another process of the same user has overwritten the ring, and no further frame would arrive.
 *
 * <p>Costs nothing while frames come. Where a ring of the doorbell brings no frame, or a frame is
 * there by half, the watch looks once, {@link #PATIENCE_NS} later. The peer rings for later frames
 * too, so where it writes any there is another look. If the head was overwritten and the peer
 * writes nothing more, the ring looks like one in which nothing was written.
 *
 * <p>Only where both sides load and store one memory.
 */
@OwnedBy("session")
public final class HeadWatch {
  /** For how long the head is at the same position before the watch looks at it. */
  public static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(1);

  private final CarrierSession session;
  private final RingPoller ring;
  private final NanoClock clock;

  private volatile boolean rung; // since the peer was told to ring; set by the poller
  private long toldAt; // position at which the peer was told to
  private boolean suspicious;
  private long position; // of the head that is suspicious
  private long dueNs = Dated.NO_DEADLINE;

  HeadWatch(CarrierParts parts) {
    this.session = parts.session();
    this.ring = parts.rings().poller();
    this.clock = parts.clock();
    this.toldAt = ring.position() - 1;
  }

  /** Called when the peer has rung. Any thread. */
  void onRing() {
    rung = true;
  }

  /** Called before this side arms, after a poll that has found nothing. */
  void onArm() {
    if (rung) {
      rung = false;
      if (toldAt == ring.position()) {
        suspect();
      }
    }
    toldAt = ring.position();
  }

  /** Schedules a look at the head. */
  void suspect() {
    if (!suspicious || position != ring.position()) {
      suspicious = true;
      position = ring.position();
      dueNs = clock.nanoTime() + PATIENCE_NS;
    }
  }

  /** When there is a look to be done; {@link Dated#NO_DEADLINE} when there is none. */
  long dueNs() {
    return dueNs;
  }

  /** Looks, if it is time to. */
  void look() {
    if (suspicious && clock.nanoTime() - dueNs >= 0) {
      suspicious = false;
      dueNs = Dated.NO_DEADLINE;
      if (position == ring.position()) {
        session.touch();
        if (ring.isHeadImpossible()) {
          session.blame("another process has overwritten the memory: position=" + position);
        }
      }
    }
  }
}
