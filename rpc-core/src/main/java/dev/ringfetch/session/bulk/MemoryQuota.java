package dev.ringfetch.session.bulk;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The limit of the memory that several sessions have together for long messages: registered memory
 * of those that they send, or arrays of those that they receive. Each of the two has a quota of its
 * own.
 *
 * <p>Thread-safe.
 */
public final class MemoryQuota {
  private final long limit;
  private final AtomicLong reserved = new AtomicLong();
  private final ArrayPool arrays = new ArrayPool();

  /**
   * Creates a quota.
   *
   * @param limit of the memory, in bytes; 0 for none.
   */
  public MemoryQuota(long limit) {
    if (limit < 0) {
      throw new IllegalArgumentException("limit=" + limit);
    }
    this.limit = limit;
  }

  /** Memory that sessions have, in bytes. */
  public long reserved() {
    return reserved.get();
  }

  /** Takes so many bytes out of the quota. False when there are not so many. */
  boolean reserve(long length) {
    long before;
    do {
      before = reserved.get();
      if (length > limit - before) {
        return false;
      }
    } while (!reserved.compareAndSet(before, before + length));
    return true;
  }

  /**
   * Takes bytes out of the quota for a session if it has less than what is free, even if it then
   * has more. So a session gets half of the quota and one message at the most, and those that have
   * little come before those that have much (<em>dynamic thresholds</em>).
   *
   * @param held bytes of the quota that the session has.
   */
  public boolean reserveShare(long length, long held) {
    long before;
    do {
      before = reserved.get();
      if (held >= limit - before) {
        return false;
      }
    } while (!reserved.compareAndSet(before, before + length));
    return true;
  }

  /** Gives back what was reserved. */
  public void release(long length) {
    reserved.addAndGet(-length);
  }

  /** Where long arrays come from. */
  public ArrayPool arrays() {
    return arrays;
  }
}
