package dev.ringfetch.session.bulk;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The limit of the registered memory that several sessions have together for long messages, and the
 * spare arrays that they share. A session that finds the quota used up sends long messages in
 * frames, as it does when its own memory is used up; it asks again once a second at the most. A
 * session keeps its memory until it ends. (Memory in {@code RegisteredBuffer}s that the application
 * still has then counts no longer, and is left to the garbage collector.)
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
   * @param limit of the registered memory, in bytes; 0 for none.
   */
  public MemoryQuota(long limit) {
    if (limit < 0) {
      throw new IllegalArgumentException("limit=" + limit);
    }
    this.limit = limit;
  }

  /** Registered memory that sessions have, in bytes. */
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

  /** Gives back what was reserved. */
  void release(long length) {
    reserved.addAndGet(-length);
  }

  /** Where long arrays come from. */
  public ArrayPool arrays() {
    return arrays;
  }
}
