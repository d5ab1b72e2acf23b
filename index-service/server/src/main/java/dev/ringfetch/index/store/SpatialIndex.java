package dev.ringfetch.index.store;

import dev.ringfetch.index.layout.HashLocation;
import dev.ringfetch.index.layout.SpatialDescriptor;
import dev.ringfetch.index.layout.SpatialReader;

/**
 * A spatial index in index memory: a hash index whose values begin with boxes, with a tree over the
 * boxes of each partition. {@link #complete} is to be called before the first reader.
 *
 * <p>Safe for use by many threads, except {@link #drop}.
 */
public final class SpatialIndex extends HashIndex {
  /** Of each reader here: those of about half a million entries. */
  private static final int CACHED_NODES = 1024;

  /**
   * Creates an empty index that is open to readers.
   *
   * @param memory for its entries
   * @param partitions a power of two up to 256
   * @param seed of the hash function, which assigns keys to partitions
   * @throws StoreFullException if there is no memory for it
   * @throws StoreDamagedException if that memory is damaged
   */
  public SpatialIndex(StoreMemory memory, int partitions, long seed) {
    super(memory, partitions, seed);
  }

  @Override
  int rootLength(int count) {
    return SpatialDescriptor.length(count);
  }

  @Override
  PartitionStore newPartition(IndexRoot created, HashLocation at, int number) {
    return new SpatialStore(memory, created, at, number);
  }

  @Override
  public void complete() {
    for (int i = 0; i < partitions(); i++) {
      ((SpatialStore) partition(i)).complete();
    }
  }

  @Override
  public SpatialReader newReader() {
    return new SpatialReader(memory.newReads(), location(), CACHED_NODES);
  }
}
