package dev.ringfetch.session;

import org.agrona.concurrent.NanoClock;

/**
 * Finds out that a ring is too short: it was full, and so many times its whole length has gone
 * through it since it was full before, without a pause. A burst now and then is none of it, and
 * neither is a peer that stands still for once.
 */
final class Crowding {
  /** So many rings full, one after the other. */
  static final int RINGS = 16;

  /** A pause after which all begins anew, in nanoseconds. */
  static final long CALM_NS = 1_000_000_000;

  private final NanoClock clock;
  private final int slots;
  private long position;
  private long lastNs;
  private int rings;

  /**
   * Creates it for a ring of so many slots.
   *
   * @param position where it begins.
   */
  Crowding(NanoClock clock, int slots, long position) {
    this.clock = clock;
    this.slots = slots;
    this.position = position;
  }

  /**
   * The ring is full, or was when it was looked at.
   *
   * @param positionNow of who writes it, or of who reads it, in slots; always the same one.
   * @return whether it is too short; again after as many times more.
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
