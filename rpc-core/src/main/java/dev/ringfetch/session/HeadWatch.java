package dev.ringfetch.session;

import dev.ringfetch.ring.RingPoller;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.NanoClock;

/**
 * The watch over the head of the ring that this side polls: ends the session when what stands there
 * can be of no writer that keeps to the order of its stores, in whatever step it was stopped.
 * Another process of the same user has overwritten it then, and no frame would come through any
 * more.
 *
 * <p>Costs nothing while frames come. Where a ring of the doorbell brings no frame, or a frame is
 * there by half, the watch looks once, {@link #PATIENCE_NS} later. The peer rings for later frames
 * too, so where it writes any there is another look. A ring whose head was overwritten and that the
 * peer writes nothing more to looks like one in which nothing was written.
 *
 * <p>Only where both sides load and store one memory; belongs to the owner of the session.
 */
final class HeadWatch {
  /** For how long the head is at the same position before the watch looks at it. */
  static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(1);

  private final Session session;
  private final RingPoller ring;
  private final NanoClock clock;

  private volatile boolean rung; // since the peer was told to ring; set by the poller
  private long toldAt; // position at which the peer was told to
  private boolean suspicious;
  private long position; // of the head that is suspicious
  private long dueNs = Stream.NO_DEADLINE;

  HeadWatch(Session session) {
    this.session = session;
    this.ring = session.ring;
    this.clock = session.clock;
    this.toldAt = ring.position() - 1;
  }

  /** The peer has rung. Any thread. */
  void onRing() {
    rung = true;
  }

  /** This side is about to have the peer ring, after a poll that has found nothing. */
  void onArm() {
    if (rung) {
      rung = false;
      if (toldAt == ring.position()) {
        suspect();
      }
    }
    toldAt = ring.position();
  }

  /** The head is to be looked at in a while. */
  void suspect() {
    if (!suspicious || position != ring.position()) {
      suspicious = true;
      position = ring.position();
      dueNs = clock.nanoTime() + PATIENCE_NS;
    }
  }

  /** When there is a look to be done; {@link Stream#NO_DEADLINE} when there is none. */
  long dueNs() {
    return dueNs;
  }

  /** True while there is a look to be done. */
  boolean isSuspicious() {
    return suspicious;
  }

  /** Looks, if it is time to. */
  void look() {
    if (suspicious && clock.nanoTime() - dueNs >= 0) {
      suspicious = false;
      dueNs = Stream.NO_DEADLINE;
      if (position == ring.position()) {
        session.guard.touch();
        if (ring.isHeadImpossible()) {
          session.ending.blame("another process has overwritten the memory: position=" + position);
        }
      }
    }
  }
}
