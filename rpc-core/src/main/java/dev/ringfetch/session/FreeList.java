package dev.ringfetch.session;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Free indexes of a table: a lock-free stack, any thread takes and gives back. The head carries a
 * stamp beside the index, so that an index that was taken and given back in between is noticed.
 */
final class FreeList {
  /** No index is free. */
  static final int NONE = -1;

  private static final long INDEX_MASK = 0xFFFF_FFFFL;

  /** The index on top, and above it the stamp. */
  final AtomicLong head = new AtomicLong(INDEX_MASK);

  private final int[] next;

  FreeList(int capacity) {
    next = new int[capacity];
  }

  /** Takes an index, or {@link #NONE}. */
  int take() {
    for (; ; ) {
      final long before = head.get();
      final int index = (int) before;
      if (index == NONE) {
        return NONE;
      }
      final long after = stamp(before) | (next[index] & INDEX_MASK);
      if (head.compareAndSet(before, after)) {
        return index;
      }
    }
  }

  /** Gives an index back. */
  void give(int index) {
    for (; ; ) {
      final long before = head.get();
      next[index] = (int) before;
      if (head.compareAndSet(before, stamp(before) | index)) {
        return;
      }
    }
  }

  private static long stamp(long before) {
    return (before & ~INDEX_MASK) + (1L << 32);
  }
}
