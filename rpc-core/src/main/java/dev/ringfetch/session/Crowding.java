package dev.ringfetch.session;

import org.agrona.concurrent.NanoClock;

/**
 * Detection of a ring that is too short: it was full repeatedly, without a pause, while {@link
 * #RINGS} times its length has gone through it. An occasional burst does not count, and neither
 * does a peer that stops for a while.
 */
final class Crowding {
  /** How many times a ring's length has to go through it. */
  static final int RINGS = 16;

  /** A pause of this length resets the count, in nanoseconds. */
  static final long CALM_NS = 1_000_000_000;

  private final NanoClock clock;
  private final int slots;
  private long position;
  private long lastNs;
  private int rings;

  /**
   * Creates the detection for a ring of this many slots.
   *
   * @param position at which the ring starts.
   */
  Crowding(NanoClock clock, int slots, long position) {
    this.clock = clock;
    this.slots = slots;
    this.position = position;
  }

  /**
   * Called when the ring is full, or was at the last look.
   *
   * @param positionNow position of the writer, or of the reader, in slots; always the same of the
   *     two.
   * @return whether it is too short; true again only after as many lengths more.
   */
  boolean onFull(long positionNow) {
    if (positionNow - position < slots) {
      return false;
    }
    final long nowNs = clock.nanoTime();
    rings = nowNs - lastNs > CALM_NS ? 1 : rings + 1;
    position = positionNow;
    lastNs = nowNs;
    return rings % RINGS == 0;
  }
}
