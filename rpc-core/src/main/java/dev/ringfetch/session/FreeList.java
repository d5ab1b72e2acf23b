package dev.ringfetch.session;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The free indexes of a table: a lock-free stack, from which any thread takes and gives back. The
 * head has a stamp beside the index, so that an index that was taken and given back in between is
 * noticed. Memory is allocated only for indexes that were given.
 */
final class FreeList {
  /** No index is free. */
  static final int NONE = -1;

  private static final long INDEX_MASK = 0xFFFF_FFFFL;
  private static final int CHUNK_BITS = 8;
  private static final int CHUNK_MASK = (1 << CHUNK_BITS) - 1;

  /** The index on top, and above it the stamp. */
  final AtomicLong head = new AtomicLong(INDEX_MASK);

  /** In chunks, which are allocated before one of their indexes is used. */
  private final AtomicReferenceArray<int[]> next;

  FreeList(int capacity) {
    next = new AtomicReferenceArray<>((capacity + CHUNK_MASK) >>> CHUNK_BITS);
  }

  /** Makes room for an index, so that {@link #give} does not have to. Any thread. */
  void reserve(int index) {
    final int chunk = index >>> CHUNK_BITS;
    if (next.get(chunk) == null) {
      next.compareAndSet(chunk, null, new int[CHUNK_MASK + 1]);
    }
  }

  /** Takes an index, or {@link #NONE}. */
  int take() {
    for (; ; ) {
      final long before = head.get();
      final int index = (int) before;
      if (index == NONE) {
        return NONE;
      }
      final int below = next.get(index >>> CHUNK_BITS)[index & CHUNK_MASK];
      final long after = stamp(before) | (below & INDEX_MASK);
      if (head.compareAndSet(before, after)) {
        return index;
      }
    }
  }

  /** Gives an index back. */
  void give(int index) {
    reserve(index);
    final int[] chunk = next.get(index >>> CHUNK_BITS);
    for (; ; ) {
      final long before = head.get();
      chunk[index & CHUNK_MASK] = (int) before;
      if (head.compareAndSet(before, stamp(before) | index)) {
        return;
      }
    }
  }

  private static long stamp(long before) {
    return (before & ~INDEX_MASK) + (1L << 32);
  }
}
