package dev.ringfetch.index.layout;

import java.util.Arrays;

/** A set of hashes of 64 bits, which are used as they are. Used by one thread at a time. */
final class HashSet64 {
  private static final int MIN_CAPACITY = 64;

  private long[] slots = new long[MIN_CAPACITY];
  private int count;
  private boolean hasZero;

  void clear() {
    if (slots.length > MIN_CAPACITY) {
      slots = new long[MIN_CAPACITY];
    } else {
      Arrays.fill(slots, 0);
    }
    count = 0;
    hasZero = false;
  }

  /** Adds a hash; returns whether it is new. */
  boolean add(long hash) {
    if (hash == 0) {
      final boolean isNew = !hasZero;
      hasZero = true;
      return isNew;
    }
    final int place = place(hash);
    if (slots[place] == hash) {
      return false;
    }
    slots[place] = hash;
    if (2 * ++count > slots.length) {
      final long[] former = slots;
      slots = new long[2 * former.length];
      for (final long moved : former) {
        if (moved != 0) {
          slots[place(moved)] = moved;
        }
      }
    }
    return true;
  }

  private int place(long hash) {
    int place = (int) (hash ^ (hash >>> 32)) & (slots.length - 1);
    while (slots[place] != 0 && slots[place] != hash) {
      place = (place + 1) & (slots.length - 1);
    }
    return place;
  }
}
