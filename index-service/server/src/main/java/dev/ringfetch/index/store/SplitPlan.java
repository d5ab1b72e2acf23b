package dev.ringfetch.index.store;

import dev.ringfetch.index.layout.GroupDescriptor;
import java.util.Arrays;

/**
 * The hashes of the group that a table splits next: one half per slot. They are learnt in bounded
 * steps, over several duty cycles if blocks or chains are long; a slot that changes meanwhile is
 * learnt again.
 */
final class SplitPlan {
  /** Number that stands for no group. */
  static final int NONE = -1;

  private long[] slots = new long[GroupDescriptor.BUCKETS * GroupDescriptor.WORDS];
  private int[] halves = new int[slots.length];
  private int group = NONE;

  /** Begins with a group, unless that is the present one. */
  void begin(int group) {
    if (this.group != group) {
      this.group = group;
      Arrays.fill(slots, 0);
    }
  }

  /** Ends with the group. */
  void end() {
    group = NONE;
  }

  /** Forgets a slot of a group, before it changes. */
  void forget(int ofGroup, Bucket bucket, int number) {
    final int place = place(bucket, number);
    if (ofGroup == group && place < slots.length) {
      slots[place] = 0;
    }
  }

  /** Whether the half of a slot in use is known. */
  boolean knows(Bucket bucket, int number) {
    final int place = place(bucket, number);
    return place < slots.length && slots[place] == bucket.word(number);
  }

  void learn(Bucket bucket, int number, int half) {
    final int place = place(bucket, number);
    if (place >= slots.length) {
      final int length = Math.max(place + GroupDescriptor.WORDS, 2 * slots.length);
      slots = Arrays.copyOf(slots, length);
      halves = Arrays.copyOf(halves, length);
    }
    slots[place] = bucket.word(number);
    halves[place] = half;
  }

  /** The half of a slot that is known. */
  int half(Bucket bucket, int number) {
    return halves[place(bucket, number)];
  }

  private static int place(Bucket bucket, int number) {
    return bucket.ordinal() * GroupDescriptor.WORDS + number;
  }
}
