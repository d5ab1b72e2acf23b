package dev.ringfetch.index.outcome;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The limit of the kept outcomes of all partitions of a server, in slots of their tables.
 *
 * <p>Safe for use by many threads.
 */
public final class OutcomeBudget {
  /** Default limit of slots: 112 MiB of heap, as a slot takes 28 bytes. */
  public static final long SLOTS_DEFAULT = 1 << 22;

  private final long limit;
  private final AtomicLong used = new AtomicLong();

  /** Creates the budget. */
  public OutcomeBudget(long slots) {
    limit = slots;
  }

  /** Limit of the slots. */
  public long limit() {
    return limit;
  }

  /** Slots in use by tables. */
  public long used() {
    return used.get();
  }

  boolean reserve(long slots) {
    return reserve(slots, limit);
  }

  /**
   * Takes slots for an answer, which an outcome can do without: at most a half of all are in use
   * then, so that answers leave room for the outcomes of others.
   */
  boolean reserveForAnswer(long slots) {
    return reserve(slots, limit / 2);
  }

  private boolean reserve(long slots, long most) {
    long before;
    do {
      before = used.get();
      if (before + slots > most) {
        return false;
      }
    } while (!used.compareAndSet(before, before + slots));
    return true;
  }

  /** Takes slots for outcomes from a journal, beyond the limit if necessary. */
  void force(long slots) {
    used.addAndGet(slots);
  }

  void release(long slots) {
    used.addAndGet(-slots);
  }
}
