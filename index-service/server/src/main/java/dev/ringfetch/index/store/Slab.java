package dev.ringfetch.index.store;

import dev.ringfetch.index.layout.SizeClasses;

/**
 * A run of index memory that is divided into blocks of one size class, with the list of its free
 * blocks. A slab with free blocks is in the list of its class. Used by the partition's owner alone.
 */
final class Slab {
  final long address;
  final int units;
  final int sizeClass;
  final int blocks;
  int free;

  /** Its place among the allocator's slabs. */
  int place;

  Slab next;
  Slab previous;
  boolean listed;

  private final int blockLength;
  private final long[] freeBits;

  Slab(long address, int units, int sizeClass) {
    this.address = address;
    this.units = units;
    this.sizeClass = sizeClass;
    blockLength = SizeClasses.length(sizeClass);
    blocks = units * StoreMemory.UNIT_LENGTH / blockLength;
    free = blocks;
    freeBits = new long[(blocks + Long.SIZE - 1) / Long.SIZE];
    for (int i = 0; i < blocks; i++) {
      freeBits[i / Long.SIZE] |= 1L << i;
    }
  }

  /** Allocates a free block, which must exist; returns its address. */
  long take() {
    int word = 0;
    while (freeBits[word] == 0) {
      word++;
    }
    final int bit = Long.numberOfTrailingZeros(freeBits[word]);
    freeBits[word] &= freeBits[word] - 1;
    free--;
    return address + (long) (word * Long.SIZE + bit) * blockLength;
  }

  /** Frees a block. */
  void give(long block) {
    final int number = (int) (block - address) / blockLength;
    final long bit = 1L << number;
    if (block != address + (long) number * blockLength
        || (freeBits[number / Long.SIZE] & bit) != 0) {
      throw new IllegalStateException("not a block in use: block=" + block);
    }
    freeBits[number / Long.SIZE] |= bit;
    free++;
  }
}
