package dev.ringfetch.index.outcome;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The bound on the outcomes that a server keeps, of all its partitions together, in slots of their
 * tables.
 *
 * <p>Safe for use by many threads.
 */
public final class OutcomeBudget {
  /** The most slots, unless set: 112 MiB of heap. A slot takes 28 bytes. */
  public static final long SLOTS_DEFAULT = 1 << 22;

  private final long limit;
  private final AtomicLong used = new AtomicLong();

  /** Creates the bound. */
  public OutcomeBudget(long slots) {
    limit = slots;
  }

  /** The most slots. */
  public long limit() {
    return limit;
  }

  /** Slots that tables have. */
  public long used() {
    return used.get();
  }

  boolean reserve(long slots) {
    long before;
    do {
      before = used.get();
      if (before + slots > limit) {
        return false;
      }
    } while (!used.compareAndSet(before, before + slots));
    return true;
  }

  /** Takes slots beyond the limit if need be: for what a journal has. */
  void force(long slots) {
    used.addAndGet(slots);
  }

  void release(long slots) {
    used.addAndGet(-slots);
  }
}
