package dev.ringfetch.index.store;

import dev.ringfetch.index.layout.GroupDescriptor;
import java.util.Arrays;

/**
 * The spills of one side of a group, in the order of their addition, with their checksums: the
 * owner never follows a link in index memory. Readers find the newest spill first.
 */
final class SpillChain {
  private final int side;
  private long[] addresses = new long[2];
  private int[] sums = new int[2];
  private int count;

  /** Creates the empty chain of a side. */
  SpillChain(int side) {
    this.side = side;
  }

  /** Number of spills. */
  int count() {
    return count;
  }

  /** Copies a spill and verifies its checksum. */
  void load(StoreMemory memory, int number, Bucket into) {
    into.load(memory, addresses[number], ordinal(number, side), sums, number);
  }

  /** Number of a spill in its group, see {@link Bucket#ordinal()}. */
  static int ordinal(int number, int side) {
    return GroupDescriptor.BUCKETS + 2 * number + side;
  }

  /** Adds a zeroed spill. */
  void add(long address) {
    if (count == addresses.length) {
      addresses = Arrays.copyOf(addresses, 2 * count);
      sums = Arrays.copyOf(sums, 2 * count);
    }
    addresses[count] = address;
    sums[count++] = 0;
  }
}
