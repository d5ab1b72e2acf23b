package dev.ringfetch.index.store;

import org.agrona.collections.LongArrayList;

/**
 * The free nodes of a tree in index memory, of one length, which can be reserved. Used by the
 * partition's owner alone.
 */
final class NodeMemory {
  /**
   * Number of free nodes that are kept: as many as a change of a tree of five levels reserves,
   * which else allocates them and gives them back (14 % of the time of an insert).
   */
  private static final int SPARE = 8;

  private final StoreMemory memory;
  private final int units;
  private final LongArrayList free = new LongArrayList();
  private int reserved;

  /**
   * Creates it without nodes.
   *
   * @param length of a node in bytes
   */
  NodeMemory(StoreMemory memory, int length) {
    this.memory = memory;
    units = length / StoreMemory.UNIT_LENGTH;
  }

  /** Sets the number of reserved nodes; false if there is not enough memory. */
  boolean reserve(int nodes) {
    while (free.size() < nodes) {
      final long address = memory.allocate(units);
      if (address == StoreMemory.NONE) {
        trim();
        return false;
      }
      free.addLong(address);
    }
    reserved = nodes;
    trim();
    return true;
  }

  /** Frees the free nodes that are neither reserved nor spare. */
  void trim() {
    while (free.size() > reserved + SPARE) {
      free(free.popLong());
    }
  }

  /** Takes a node, which must be reserved; returns its address. */
  long take() {
    if (free.isEmpty()) {
      throw new IllegalStateException("more nodes than reserved: reserved=" + reserved);
    }
    return free.popLong();
  }

  /** Keeps a node that the tree has no more. */
  void keep(long address) {
    free.addLong(address);
  }

  /** Frees the memory of a node for good. */
  void free(long address) {
    memory.free(address, units);
  }

  /** Frees the memory of all free nodes for good. */
  void close() {
    while (!free.isEmpty()) {
      free(free.popLong());
    }
  }
}
