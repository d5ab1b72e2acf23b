package dev.ringfetch.index.store;

import static dev.ringfetch.index.layout.GroupDescriptor.BUCKET_LENGTH;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.index.layout.BlockDescriptor;
import dev.ringfetch.index.layout.GroupDescriptor;
import dev.ringfetch.index.layout.KeyHash;
import dev.ringfetch.index.layout.SizeClasses;
import dev.ringfetch.index.v1.Entry;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The entries of a partition in index memory, as its owner sees and changes them. Readers see each
 * change as soon as the method returns, and some part of them earlier.
 *
 * <p>A key is in one of two combined buckets, one in each of two tables, of which one grows at a
 * time: so keys find room in the other while half of the groups of one are twice as full. A key
 * keeps its slot until it is deleted or a split moves it.
 *
 * <p>Used by one thread at a time, and what one thread did must happen before what the next does.
 */
public final class PartitionStore implements EntryStore {
  /** Returned by {@link #reserve}: index memory is used up. Reads and deletes go on. */
  public static final int FULL = -1;

  /** Returned by {@link #reserve}: no block is long enough for such an entry. */
  public static final int TOO_LONG = -2;

  /** The highest version: 48 bits. */
  public static final long MAX_VERSION = (1L << 48) - 1;

  /**
   * Entries for each 100 slots above which tables grow. Higher, some keys would find both combined
   * buckets full: one in 10,000 at 68, one in 1,000 at 70, one in 55 at 75 (simulated to 300,000
   * entries).
   */
  private static final int FILL_PERCENT = 67;

  /** Entries for each 100 slots above which a put grows the table itself. */
  private static final int URGENT_PERCENT = 70;

  /** Entries for each 100 slots above which no more are taken, if tables cannot grow. */
  private static final int MAX_PERCENT = 95;

  private final StoreMemory memory;
  private final long seed;
  private final BlockAllocator allocator;
  private final BlockStore blocks;
  private final BucketTable[] tables = new BucketTable[2];
  private final AtomicLong count = new AtomicLong();
  private long reservations;

  private byte[] keyBytes = new byte[64];
  private int keyLength;
  private long hash;

  /** Where {@link #find} found the key, and what is there. */
  private long slotAddress;

  private long slot;

  /** Whether the put took the spill that was reserved for it. */
  private boolean spilled;

  /** Creates an empty partition, still without memory. */
  PartitionStore(StoreMemory memory, long incarnation, long seed, long head0, long head1) {
    this.memory = memory;
    this.seed = seed;
    allocator = new BlockAllocator(memory);
    blocks = new BlockStore(memory, incarnation, seed);
    tables[0] = new BucketTable(memory, allocator, blocks, head0, 0);
    tables[1] = new BucketTable(memory, allocator, blocks, head1, 1);
  }

  /** Sees to the first groups; returns false if there is no memory. */
  boolean open() {
    return tables[0].open() && tables[1].open();
  }

  /** Gives all memory back. */
  void close() {
    tables[0].close();
    tables[1].close();
    allocator.close();
  }

  /** Version of a key's entry, or 0 if it has none. */
  @Override
  public long version(ByteString key) {
    return find(key) ? blocks.version(slot) : 0;
  }

  /** The entry of a key, or null if it has none. */
  @Override
  public Entry entry(ByteString key) {
    if (!find(key)) {
      return null;
    }
    return Entry.newBuilder()
        .setKey(key)
        .setValue(blocks.value(slot))
        .setVersion(blocks.version(slot))
        .build();
  }

  /**
   * Reserves memory for one put, so that the put cannot fail.
   *
   * @return 0, or {@link #FULL} or {@link #TOO_LONG}, which are negative
   */
  @Override
  public int reserve(int keyLength, int valueLength) {
    final long length = BlockDescriptor.length(keyLength, valueLength);
    if (length > SizeClasses.MAX_LENGTH) {
      return TOO_LONG;
    }
    final int sizeClass = SizeClasses.of((int) length);
    if (SizeClasses.length(sizeClass) > memory.maxBlockLength()) {
      return TOO_LONG;
    }
    if (isFuller(reservations, MAX_PERCENT) && !tables[growing()].split()) {
      return FULL;
    }
    if (!allocator.reserve(sizeClass)) {
      return FULL;
    }
    // For the case that both combined buckets of the key are full.
    if (!allocator.reserve(BucketTable.SPILL_CLASS)) {
      allocator.release(sizeClass);
      return FULL;
    }
    reservations++;
    return 0;
  }

  /** Gives the reservation of a put back that does not come. */
  @Override
  public void release(int keyLength, int valueLength) {
    allocator.release(SizeClasses.of((int) BlockDescriptor.length(keyLength, valueLength)));
    allocator.release(BucketTable.SPILL_CLASS);
    reservations--;
  }

  /**
   * Stores an entry in place of the key's former one, if there is one. Consumes a reservation with
   * these lengths.
   *
   * @param version from 1 to {@link #MAX_VERSION}; no other put here has or had it
   */
  @Override
  public void put(ByteString key, ByteString value, long version) {
    if (version < 1 || version > MAX_VERSION) {
      throw new IllegalArgumentException("not a version: version=" + version);
    }
    final boolean found = find(key);
    spilled = false;
    final int length = (int) BlockDescriptor.length(keyLength, value.size());
    final int sizeClass = SizeClasses.of(length);
    final long address = allocator.take(sizeClass);
    blocks.write(address, keyBytes, keyLength, value, version);
    final long place = found ? slotAddress : place();
    final long newSlot = GroupDescriptor.slot(KeyHash.fingerprint(hash), sizeClass, address);
    memory.region(place).putLongRelease(memory.offset(place), newSlot);
    blocks.publish(address);
    reservations--;
    if (!spilled) {
      allocator.release(BucketTable.SPILL_CLASS);
    }
    if (found) {
      allocator.give(GroupDescriptor.address(slot));
      return;
    }
    count.lazySet(count.getPlain() + 1);
    if (isFuller(0, URGENT_PERCENT)) {
      grow();
    }
  }

  /** Removes the entry of a key; returns whether there was one. */
  @Override
  public boolean delete(ByteString key) {
    if (!find(key)) {
      return false;
    }
    memory.region(slotAddress).putLongRelease(memory.offset(slotAddress), 0);
    allocator.give(GroupDescriptor.address(slot));
    count.lazySet(count.getPlain() - 1);
    return true;
  }

  /**
   * Does one bounded piece of growth: the split of a group. The owner calls it once in each duty
   * cycle that puts; puts come to do it themselves if it does not.
   *
   * @return whether there is more to do
   */
  @Override
  public boolean grow() {
    return isFuller(0, FILL_PERCENT) && tables[growing()].split() && isFuller(0, FILL_PERCENT);
  }

  /** Number of entries. Safe for use by many threads. */
  @Override
  public long count() {
    return count.get();
  }

  private boolean isFuller(long more, int percent) {
    final long slots =
        (long) GroupDescriptor.GROUP_SLOTS * (tables[0].groups() + tables[1].groups());
    return (count.getPlain() + more) * 100 > slots * percent;
  }

  /** The table that grows: the one that is between two powers of two, or else the smaller one. */
  private int growing() {
    final int groups0 = tables[0].groups();
    final int groups1 = tables[1].groups();
    if (Integer.bitCount(groups0) != 1) {
      return 0;
    }
    return Integer.bitCount(groups1) != 1 || groups1 < groups0 ? 1 : 0;
  }

  /** Address of a free slot for the key, in the emptier one of its combined buckets. */
  private long place() {
    final int free0 = tables[0].freeSlots(hash);
    final int free1 = tables[1].freeSlots(hash);
    if (free0 + free1 > 0) {
      return tables[free1 > free0 ? 1 : 0].freeSlot(hash);
    }
    final long link = tables[0].main(hash);
    final long place = tables[0].freeSpilledSlot(link);
    if (place != 0) {
      return place;
    }
    tables[0].addSpill(link);
    spilled = true;
    return tables[0].freeSpilledSlot(link);
  }

  /** Finds a key; leaves the key's bytes and hash in fields, and its slot if it has one. */
  private boolean find(ByteString key) {
    keyLength = key.size();
    if (keyBytes.length < keyLength) {
      keyBytes = new byte[Math.max(keyLength, 2 * keyBytes.length)];
    }
    key.copyTo(keyBytes, 0);
    hash = KeyHash.of(keyBytes, 0, keyLength, seed);
    final int fingerprint = KeyHash.fingerprint(hash);
    for (int t = 0; t < 2; t++) {
      final long combined = tables[t].combined(hash);
      if (find(combined, 1, BUCKET_LENGTH / Long.BYTES, fingerprint)
          || find(combined + BUCKET_LENGTH, 1, BUCKET_LENGTH / Long.BYTES, fingerprint)) {
        return true;
      }
    }
    for (int t = 0; t < 2; t++) {
      long spill = get(tables[t].main(hash));
      while (spill != 0) {
        if (find(spill, 1, GroupDescriptor.WORDS, fingerprint)) {
          return true;
        }
        spill = get(spill);
      }
    }
    return false;
  }

  private boolean find(long address, int from, int to, int fingerprint) {
    final MemoryRegion region = memory.region(address);
    final int offset = memory.offset(address);
    for (int word = from; word < to; word++) {
      final long candidate = region.getLong(offset + word * Long.BYTES);
      if (candidate != 0
          && GroupDescriptor.fingerprint(candidate) == fingerprint
          && blocks.hasKey(candidate, keyBytes, keyLength)) {
        slotAddress = address + (long) word * Long.BYTES;
        slot = candidate;
        return true;
      }
    }
    return false;
  }

  private long get(long address) {
    return memory.region(address).getLong(memory.offset(address));
  }
}
