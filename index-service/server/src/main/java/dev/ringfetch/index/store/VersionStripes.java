package dev.ringfetch.index.store;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The source of a hash store's versions: a fixed number of counters. Each key always belongs to the
 * same one of them.
 *
 * <p>Keys that share a counter skip numbers, which versions may do. In exchange, a deleted key
 * needs no memory of its version, as its counter has moved on all the same; and writers of
 * different keys meet at one counter only by chance, unlike with a single counter for all.
 *
 * <p>Safe for use by many threads.
 */
final class VersionStripes {
  /** A power of two; more than there are cores to write with on most machines. */
  private static final int STRIPES = 64;

  private static final int CACHE_LINE_BYTES = 64;

  /** Places from one counter to the next, so that each has a cache line to itself. */
  private static final int STRIDE_LONGS = CACHE_LINE_BYTES / Long.BYTES;

  private final AtomicLongArray counters = new AtomicLongArray(STRIPES * STRIDE_LONGS);

  /**
   * A number above all that this method returned before for the same hash code. Starts at 1: 0 is
   * free to say "absent".
   */
  long next(int keyHash) {
    // As in a hash map: without the high bits, keys that differ only there would share a counter.
    final int spread = keyHash ^ (keyHash >>> 16);
    return counters.incrementAndGet((spread & (STRIPES - 1)) * STRIDE_LONGS);
  }
}
