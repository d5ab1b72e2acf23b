package dev.ringfetch.index.layout;

import java.util.Arrays;

/**
 * A queue of the entries of leaves whose blocks a search has still to read: of each the leaf, the
 * slot, and the lower half of the block's version. Used by one thread at a time.
 */
final class LeafMatches {
  private SearchLeaf[] leaves = new SearchLeaf[32];
  private long[] slots = new long[32];
  private int[] versions = new int[32];
  private int first;
  private int end;

  void add(SearchLeaf leaf, long slot, int version) {
    if (end == slots.length) {
      leaves = Arrays.copyOf(leaves, 2 * end);
      slots = Arrays.copyOf(slots, 2 * end);
      versions = Arrays.copyOf(versions, 2 * end);
    }
    leaves[end] = leaf;
    slots[end] = slot;
    versions[end++] = version;
  }

  int size() {
    return end - first;
  }

  /** The leaf of an entry, which is counted from the queue's head. */
  SearchLeaf leaf(int number) {
    return leaves[first + number];
  }

  long slot(int number) {
    return slots[first + number];
  }

  int version(int number) {
    return versions[first + number];
  }

  /** Removes entries from the queue's head. */
  void remove(int count) {
    first += count;
    if (first == end) {
      clear();
    }
  }

  void clear() {
    Arrays.fill(leaves, 0, end, null);
    first = 0;
    end = 0;
  }
}
