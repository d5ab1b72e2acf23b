package dev.ringfetch.index.store;

import dev.ringfetch.index.layout.SizeClasses;
import java.util.ArrayList;
import java.util.List;

/**
 * The blocks of a partition, by size class, in slabs out of the shared memory. Slabs grow with
 * their size class, so that a small class wastes few bytes and a large class has few slabs.
 *
 * <p>A block can be reserved before it is allocated. Used by the partition's owner alone.
 */
final class BlockAllocator {
  /** Minimum of the blocks of a slab, except for long blocks. */
  private static final int MIN_BLOCKS = 4;

  /** Blocks longer than this have a slab each. */
  private static final int MAX_SHARED_LENGTH = 8 << 10;

  private static final int MAX_SLAB_LENGTH = 64 << 10;

  /** Divisor of a class's size: the part by which it grows at a time. */
  private static final int GROWTH_DIVISOR = 16;

  /**
   * Limit of the length of a slab that is kept although it is empty, if it is the last one with
   * free blocks.
   */
  private static final int SPARE_LENGTH = 4 << 10;

  private final StoreMemory memory;
  private final List<Slab> slabs = new ArrayList<>();
  private final Slab[] lists = new Slab[SizeClasses.COUNT + 1];
  private final int[] free = new int[SizeClasses.COUNT + 1];
  private final int[] reserved = new int[SizeClasses.COUNT + 1];
  private final long[] lengths = new long[SizeClasses.COUNT + 1];
  private long used;

  BlockAllocator(StoreMemory memory) {
    this.memory = memory;
  }

  /** Reserves a block; returns false if there is no memory. */
  boolean reserve(int sizeClass) {
    if (free[sizeClass] == reserved[sizeClass] && !addSlab(sizeClass)) {
      return false;
    }
    reserved[sizeClass]++;
    return true;
  }

  /** Returns a reservation. */
  void release(int sizeClass) {
    if (reserved[sizeClass] == 0) {
      throw new IllegalStateException("nothing is reserved: sizeClass=" + sizeClass);
    }
    reserved[sizeClass]--;
  }

  /** Allocates a reserved block; returns its address. */
  long take(int sizeClass) {
    release(sizeClass);
    final Slab slab = lists[sizeClass];
    final long address = slab.take();
    free[sizeClass]--;
    used += SizeClasses.length(sizeClass);
    if (slab.free == 0) {
      unlist(slab);
    }
    return address;
  }

  /** Frees a block. */
  void give(long address) {
    final Slab slab = memory.slab(address);
    slab.give(address);
    free[slab.sizeClass]++;
    used -= SizeClasses.length(slab.sizeClass);
    if (!slab.listed) {
      list(slab);
    }
    if (slab.free == slab.blocks) {
      emptied(slab);
    }
  }

  /** Frees an empty slab, unless its blocks are reserved, or it is the last one and short. */
  private void emptied(Slab slab) {
    final int others = free[slab.sizeClass] - slab.blocks;
    if (others < reserved[slab.sizeClass]
        || (others == 0 && slab.units * StoreMemory.UNIT_LENGTH <= SPARE_LENGTH)) {
      return;
    }
    unlist(slab);
    free[slab.sizeClass] -= slab.blocks;
    lengths[slab.sizeClass] -= (long) slab.units * StoreMemory.UNIT_LENGTH;
    final Slab last = slabs.remove(slabs.size() - 1);
    if (last != slab) {
      last.place = slab.place;
      slabs.set(last.place, last);
    }
    memory.free(slab);
  }

  /** Bytes of the blocks that are allocated. */
  long used() {
    return used;
  }

  /** Frees the memory of all blocks for good. */
  void close() {
    slabs.forEach(memory::free);
    slabs.clear();
  }

  private boolean addSlab(int sizeClass) {
    final int blockLength = SizeClasses.length(sizeClass);
    int units;
    if (blockLength > MAX_SHARED_LENGTH) {
      units = StoreMemory.units(blockLength);
    } else {
      final long length =
          Math.max((long) MIN_BLOCKS * blockLength, lengths[sizeClass] / GROWTH_DIVISOR);
      units = StoreMemory.units((int) Math.min(length, MAX_SLAB_LENGTH));
    }
    Slab slab = memory.allocateSlab(units, sizeClass);
    if (slab == null) {
      units = StoreMemory.units(blockLength);
      slab = memory.allocateSlab(units, sizeClass);
      if (slab == null) {
        return false;
      }
    }
    free[sizeClass] += slab.blocks;
    lengths[sizeClass] += (long) units * StoreMemory.UNIT_LENGTH;
    slab.place = slabs.size();
    slabs.add(slab);
    list(slab);
    return true;
  }

  private void list(Slab slab) {
    final Slab head = lists[slab.sizeClass];
    slab.next = head;
    slab.previous = null;
    if (head != null) {
      head.previous = slab;
    }
    lists[slab.sizeClass] = slab;
    slab.listed = true;
  }

  private void unlist(Slab slab) {
    if (slab.previous == null) {
      lists[slab.sizeClass] = slab.next;
    } else {
      slab.previous.next = slab.next;
    }
    if (slab.next != null) {
      slab.next.previous = slab.previous;
    }
    slab.next = null;
    slab.previous = null;
    slab.listed = false;
  }
}
