package dev.ringfetch.session.bulk;

import dev.ringfetch.fabric.RegisteredMemory;
import java.util.BitSet;

/** Registered memory of a {@link BulkPool}, by pages. Guarded by the pool. */
public final class BulkRegion {
  static final int PAGE_LENGTH = 4096;

  private final RegisteredMemory memory;
  private final int number;
  private final int pages;
  private final BitSet used;

  BulkRegion(RegisteredMemory memory, int number) {
    this.memory = memory;
    this.number = number;
    this.pages = memory.region().length() / PAGE_LENGTH;
    this.used = new BitSet(pages);
  }

  /** How many pages hold a length, which is positive. */
  static int pages(int length) {
    return (length - 1) / PAGE_LENGTH + 1;
  }

  RegisteredMemory memory() {
    return memory;
  }

  /** As the peer counts them. */
  int number() {
    return number;
  }

  int usedPages() {
    return used.cardinality();
  }

  /**
   * Takes the first run that is long enough: what was used a moment ago is in the cache.
   *
   * @return offset in bytes, or -1 when there is none.
   */
  int take(int wanted) {
    int start = used.nextClearBit(0);
    while (start + wanted <= pages) {
      final int end = used.nextSetBit(start);
      if (end < 0 || end - start >= wanted) {
        used.set(start, start + wanted);
        return start * PAGE_LENGTH;
      }
      start = used.nextClearBit(end);
    }
    return -1;
  }

  void give(int offset, int count) {
    used.clear(offset / PAGE_LENGTH, offset / PAGE_LENGTH + count);
  }
}
