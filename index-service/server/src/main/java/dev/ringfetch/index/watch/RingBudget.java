package dev.ringfetch.index.watch;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * The memory that all rings of a server may take together, in equal shares. A ring that has more
 * than its share gives the rest up with its next change.
 *
 * <p>Safe for use by many threads.
 */
public final class RingBudget {
  /** Bytes of all rings unless a test says otherwise. */
  public static final long BYTES_DEFAULT = 64L << 20;

  /** The most bytes of one ring. */
  private static final long RING_BYTES = 16L << 20;

  private final long bytes;
  private final AtomicInteger rings = new AtomicInteger();

  /** Creates a budget of so many bytes. */
  public RingBudget(long bytes) {
    this.bytes = bytes;
  }

  /** Notes a new ring. */
  void add() {
    rings.incrementAndGet();
  }

  /** Notes the end of a ring. */
  void remove() {
    rings.decrementAndGet();
  }

  /** Number of rings. */
  public int rings() {
    return rings.get();
  }

  /** Bytes that a ring may take; the newest change stays in any case. */
  public long share() {
    return Math.min(RING_BYTES, bytes / Math.max(1, rings.get()));
  }
}
