package dev.ringfetch.index.store;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.HashLocation;
import dev.ringfetch.index.layout.HashReader;
import dev.ringfetch.index.layout.KeyHash;
import dev.ringfetch.index.layout.RootDescriptor;
import java.util.function.LongUnaryOperator;

/**
 * A hash index in index memory: partitions, each with one owner at a time, and lock-free readers.
 *
 * <p>Safe for use by many threads, except {@link #drop}.
 */
public class HashIndex extends StoredIndex {
  private final PartitionStore[] partitions;
  private final LongUnaryOperator seeds;
  private HashLocation location;

  /**
   * Creates an empty index that is open to readers, with a unique seed.
   *
   * @param memory for its entries
   * @param partitions a power of two up to 256
   * @throws StoreFullException if there is no memory for it
   * @throws StoreDamagedException if that memory is damaged
   */
  public HashIndex(StoreMemory memory, int partitions) {
    this(memory, partitions, memory::seed);
  }

  /**
   * Creates an empty index that is open to readers.
   *
   * @param memory for its entries
   * @param partitions a power of two up to 256
   * @param seed of the hash function, which assigns keys to partitions
   * @throws StoreFullException if there is no memory for it
   * @throws StoreDamagedException if that memory is damaged
   */
  public HashIndex(StoreMemory memory, int partitions, long seed) {
    this(memory, partitions, number -> seed);
  }

  private HashIndex(StoreMemory memory, int partitions, LongUnaryOperator seeds) {
    super(memory);
    this.seeds = seeds;
    if (Integer.bitCount(partitions) != 1 || partitions > RootDescriptor.MAX_PARTITIONS) {
      throw new IllegalArgumentException("not a power of two up to 256: partitions=" + partitions);
    }
    this.partitions = new PartitionStore[partitions];
    create(rootLength(partitions));
  }

  /** Length of the root in bytes. Called by the constructor. */
  int rootLength(int count) {
    return RootDescriptor.length(count);
  }

  /** Creates a partition, still without memory. Called by the constructor. */
  PartitionStore newPartition(IndexRoot created, HashLocation at, int number) {
    return new PartitionStore(memory, created, at, number);
  }

  @Override
  boolean openPartitions(IndexRoot created) {
    final long seed = seeds.applyAsLong(created.incarnation());
    location =
        new HashLocation(
            memory.incarnation(),
            created.address(),
            created.incarnation(),
            seed,
            partitions.length);
    for (int p = 0; p < partitions.length; p++) {
      partitions[p] = newPartition(created, location, p);
      if (!partitions[p].open()) {
        return false;
      }
    }
    created.put(RootDescriptor.SEED_OFFSET, seed);
    created.put(RootDescriptor.PARTITIONS_OFFSET, partitions.length);
    return true;
  }

  @Override
  void closePartitions() {
    for (PartitionStore partition : partitions) {
      if (partition != null) {
        partition.close();
      }
    }
  }

  @Override
  public int partitions() {
    return partitions.length;
  }

  @Override
  public PartitionStore partition(int number) {
    return partitions[number];
  }

  @Override
  public void expect(long entries) {
    for (final PartitionStore partition : partitions) {
      partition.expect(entries / partitions.length);
    }
  }

  @Override
  public int partitionOf(ByteString key) {
    final byte[] bytes = key.toByteArray();
    final long seed = location.seed();
    final long hash = KeyHash.of(bytes, 0, bytes.length, seed);
    return KeyHash.partition(bytes, 0, bytes.length, hash, seed, partitions.length);
  }

  /** The part of a key that gives its partition, however many there are: its tag, or all of it. */
  public static ByteString tag(ByteString key) {
    final int length = KeyHash.tagLength(key.toByteArray(), 0, key.size());
    return length == 0 ? key : key.substring(1, 1 + length);
  }

  /** The location of the index, for readers. */
  public HashLocation location() {
    return location;
  }

  @Override
  public HashReader newReader() {
    return new HashReader(memory.newReads(), location);
  }
}
