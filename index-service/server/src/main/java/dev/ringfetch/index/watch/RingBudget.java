package dev.ringfetch.index.watch;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * The memory budget of all rings of a server, in equal shares. A ring that exceeds its share drops
 * changes with its next one.
 *
 * <p>Safe for use by many threads.
 */
public final class RingBudget {
  /** Default of the bytes of all rings. */
  public static final long BYTES_DEFAULT = 64L << 20;

  /** Limit of the bytes of one ring. */
  private static final long RING_BYTES = 16L << 20;

  private final long bytes;
  private final AtomicInteger rings = new AtomicInteger();

  /** Creates a budget. */
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

  /** Limit of the bytes of a ring; the newest change always stays. */
  public long share() {
    return Math.min(RING_BYTES, bytes / Math.max(1, rings.get()));
  }
}
