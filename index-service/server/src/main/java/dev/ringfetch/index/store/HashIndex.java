package dev.ringfetch.index.store;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.MemoryFaults;
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
  private final IndexRoot root;
  private final PartitionStore[] partitions;

  /**
   * Creates an empty index that is open to readers.
   *
   * @param memory where it lives
   * @param partitions a power of two up to 256
   * @throws StoreFullException if there is no memory for it
   * @throws StoreDamagedException if that memory is damaged
   */
  public HashIndex(StoreMemory memory, int partitions) {
    if (Integer.bitCount(partitions) != 1 || partitions > RootDescriptor.MAX_PARTITIONS) {
      throw new IllegalArgumentException("not a power of two up to 256: partitions=" + partitions);
    }
    this.memory = memory;
    this.partitions = new PartitionStore[partitions];
    try {
      root = create(memory, partitions);
      memory.verify();
    } catch (InternalError e) {
      MemoryFaults.absorb(memory::verify, e);
      memory.quarantine();
      throw new StoreDamagedException("index memory was taken away", e);
    }
  }

  private IndexRoot create(StoreMemory memory, int count) {
    final int units = StoreMemory.units(RootDescriptor.length(count));
    final long address = memory.allocateRoot(units);
    if (address == StoreMemory.NONE) {
      throw full();
    }
    final long incarnation = memory.nextIndex();
    final long seed = memory.seed(incarnation);
    final IndexRoot created =
        new IndexRoot(
            memory, new HashLocation(memory.incarnation(), address, incarnation, seed, count));
    boolean opened = false;
    try {
      openPartitions(created);
      created.open();
      opened = true;
    } finally {
      if (!opened) {
        closePartitions();
        memory.freeRoot(address, units);
      }
    }
    return created;
  }

  private void openPartitions(IndexRoot of) {
    for (int p = 0; p < partitions.length; p++) {
      partitions[p] = new PartitionStore(memory, of, p);
      if (!partitions[p].open()) {
        throw full();
      }
    }
  }

  private void closePartitions() {
    for (PartitionStore partition : partitions) {
      if (partition != null) {
        partition.close();
      }
    }
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
        KeyHash.of(bytes, 0, bytes.length, root.location().seed()), partitions.length);
  }

  /** What readers need to know. */
  public HashLocation location() {
    return root.location();
  }

  /** Creates a reader for one thread at a time. */
  public HashReader newReader() {
    return new HashReader(memory.newReads(), root.location());
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
    root.closeToReaders();
  }

  /**
   * Refuses the index, whose memory was found damaged: its writers end, and readers find it closed.
   * It is to be dropped. Safe for use by many threads.
   */
  public void refuse() {
    root.refuse();
  }

  /** Whether the index was refused. Safe for use by many threads. */
  public boolean isRefused() {
    return root.isRefused();
  }

  /** Whether the gate lets readers of this memory in. Safe for use by many threads. */
  public boolean isServed() {
    return memory.isServed();
  }

  /**
   * Closes the index to readers and gives its memory back. No partition may be in use any more, and
   * each owner's stores must have happened before.
   */
  public void drop() {
    root.drop();
    closePartitions();
    memory.freeRoot(
        root.location().root(), StoreMemory.units(RootDescriptor.length(partitions.length)));
  }
}
