package dev.ringfetch.index.store;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.HashLocation;
import dev.ringfetch.index.layout.HashReader;
import dev.ringfetch.index.layout.KeyHash;
import dev.ringfetch.index.layout.RootDescriptor;

/**
 * A hash index in index memory: partitions, each with one owner at a time, and lock-free readers.
 *
 * <p>Safe for use by many threads, except {@link #drop}.
 */
public final class HashIndex {
  private final StoreMemory memory;
  private final HashLocation location;
  private final PartitionStore[] partitions;

  /**
   * Creates an empty index that is open to readers.
   *
   * @param memory where it lives
   * @param partitions a power of two up to 256
   * @throws StoreFullException if there is no memory for it
   */
  public HashIndex(StoreMemory memory, int partitions) {
    if (Integer.bitCount(partitions) != 1 || partitions > RootDescriptor.MAX_PARTITIONS) {
      throw new IllegalArgumentException("not a power of two up to 256: partitions=" + partitions);
    }
    this.memory = memory;
    this.partitions = new PartitionStore[partitions];
    final int units = StoreMemory.units(RootDescriptor.length(partitions));
    final long root = memory.allocateRoot(units);
    if (root == StoreMemory.NONE) {
      throw full();
    }
    final long incarnation = memory.nextIndex();
    final long seed = memory.seed(incarnation);
    location = new HashLocation(memory.incarnation(), root, incarnation, seed, partitions);
    for (int p = 0; p < partitions; p++) {
      this.partitions[p] =
          new PartitionStore(
              memory,
              incarnation,
              seed,
              RootDescriptor.table(root, p, 0),
              RootDescriptor.table(root, p, 1));
      if (!this.partitions[p].open()) {
        for (; p >= 0; p--) {
          this.partitions[p].close();
        }
        memory.freeRoot(root, units);
        throw full();
      }
    }
    final int offset = memory.offset(root);
    memory.region(root).putLong(offset + RootDescriptor.SEED_OFFSET, seed);
    memory.region(root).putLong(offset + RootDescriptor.PARTITIONS_OFFSET, partitions);
    memory.region(root).putLongRelease(offset + RootDescriptor.OPEN_OFFSET, incarnation);
  }

  private StoreFullException full() {
    return new StoreFullException("index memory is used up: budget=" + memory.budget());
  }

  /** Number of partitions. */
  public int partitions() {
    return partitions.length;
  }

  /** A partition. */
  public PartitionStore partition(int number) {
    return partitions[number];
  }

  /** Number of the partition that a key belongs to. Safe for use by many threads. */
  public int partitionOf(ByteString key) {
    final byte[] bytes = key.toByteArray();
    return KeyHash.partition(
        KeyHash.of(bytes, 0, bytes.length, location.seed()), partitions.length);
  }

  /** What readers need to know. */
  public HashLocation location() {
    return location;
  }

  /** Creates a reader for one thread at a time. */
  public HashReader newReader() {
    return new HashReader(memory.newReads(), location);
  }

  /** Number of entries; while owners write, it is exact for no moment. */
  public long count() {
    long count = 0;
    for (PartitionStore partition : partitions) {
      count += partition.count();
    }
    return count;
  }

  /** Closes the index to readers, before this returns. Safe for use by many threads. */
  public void closeToReaders() {
    final long root = location.root();
    memory.region(root).putLongRelease(memory.offset(root) + RootDescriptor.OPEN_OFFSET, 0);
    memory.region(root).fullFence();
  }

  /**
   * Closes the index to readers and gives its memory back. No partition may be in use any more, and
   * each owner's stores must have happened before.
   */
  public void drop() {
    closeToReaders();
    final long root = location.root();
    for (PartitionStore partition : partitions) {
      partition.close();
    }
    memory.freeRoot(root, StoreMemory.units(RootDescriptor.length(partitions.length)));
  }
}
