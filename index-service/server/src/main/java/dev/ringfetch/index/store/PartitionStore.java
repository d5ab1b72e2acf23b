package dev.ringfetch.index.store;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.BlockDescriptor;
import dev.ringfetch.index.layout.GroupDescriptor;
import dev.ringfetch.index.layout.HashLocation;
import dev.ringfetch.index.layout.KeyHash;
import dev.ringfetch.index.layout.RootDescriptor;
import dev.ringfetch.index.layout.SizeClasses;
import dev.ringfetch.index.v1.Entry;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The owner's access to the entries of a partition in index memory. A change is visible to readers
 * when the method returns, perhaps earlier.
 *
 * <p>A key is in one of two combined buckets, one in each of two tables. Only one table grows at a
 * time: while half of its groups are twice as full, keys find room in the other table. A key keeps
 * its slot until it is deleted or a split moves it.
 *
 * <p>The owner verifies the checksum of each bucket and each block before it trusts them. Methods
 * throw {@link StoreDamagedException} if one is wrong; the caller then refuses the index. They may
 * throw InternalError if memory was unmapped, and {@link #verify} does so at the latest.
 *
 * <p>Used by one thread at a time; the actions of one must happen before those of the next.
 */
public class PartitionStore implements EntryStore {
  /** Returned by {@link #reserve}: index memory is used up. Reads and deletes go on. */
  public static final int FULL = -1;

  /** Returned by {@link #reserve}: no block is long enough for such an entry. */
  public static final int TOO_LONG = -2;

  /** Returned by {@link #admit}: too many keys collide with the key. */
  public static final int TOO_MANY_COLLISIONS = -3;

  /** Returned by {@link #admit}: the blocks of colliding keys are too long. */
  public static final int COLLISIONS_TOO_LONG = -4;

  /**
   * Limit of the keys in the spills of a side; random keys do not even fill one spill. A write of
   * such a key searches all of them.
   */
  public static final int MAX_COLLISIONS = 16 * (GroupDescriptor.WORDS - 1);

  /**
   * Limit of the bytes of all blocks with the same fingerprint and buckets: eight of the longest.
   * The owner verifies the checksums of all of them.
   */
  public static final int MAX_COLLISION_BYTES = 8 << 20;

  /** The highest version: 48 bits. */
  public static final long MAX_VERSION = (1L << 48) - 1;

  /**
   * Entries per 100 slots above which tables grow. With more, some keys would find both combined
   * buckets full: one in 10,000 at 68, one in 1,000 at 70, one in 55 at 75 (simulated to 300,000
   * entries).
   */
  private static final int FILL_PERCENT = 67;

  /** Entries per 100 slots above which a put itself grows the table. */
  private static final int URGENT_PERCENT = 70;

  /** Entries per 100 slots above which puts are refused if tables cannot grow. */
  private static final int MAX_PERCENT = 95;

  private final StoreMemory memory;
  private final IndexRoot root;
  private final long seed;
  private final BlockAllocator allocator;
  private final BlockStore blocks;
  private final Expiry expiry;
  private final BucketTable[] tables = new BucketTable[2];
  private final AtomicLong count = new AtomicLong();
  private long reservations;

  /**
   * The object of the last searched key while the results of the search, which are in fields, are
   * valid; null after a change.
   */
  private ByteString searched;

  private boolean found;

  private byte[] keyBytes = new byte[64];
  private int keyLength;
  private long hash;

  /** Bytes of blocks of other keys with the fingerprint that the last search has read. */
  private long collisionBytes;

  // The place where find found the key, or where place found room.
  private BucketTable table;
  private Bucket bucket;
  private int slotNumber;
  private long slot;

  /** The number of keys or bytes that the last admit refused. */
  private long excess;

  /** Whether the put has used its reserved spill. */
  private boolean spilled;

  /** Creates an empty partition, still without memory. */
  PartitionStore(StoreMemory memory, IndexRoot root, HashLocation location, int number) {
    this.memory = memory;
    this.root = root;
    seed = location.seed();
    allocator = new BlockAllocator(memory);
    blocks = new BlockStore(memory, root.incarnation(), seed);
    expiry =
        new Expiry(
            memory,
            root.address() + RootDescriptor.clock(number, location.partitions()),
            new BlockStore(memory, root.incarnation(), seed),
            this::version);
    for (int t = 0; t < 2; t++) {
      final long head = RootDescriptor.table(root.address(), number, t);
      tables[t] = new BucketTable(memory, allocator, blocks, head, t);
    }
  }

  /** Creates the first groups; returns false if there is no memory. */
  boolean open() {
    return tables[0].open() && tables[1].open();
  }

  /** Frees all memory. */
  void close() {
    tables[0].close();
    tables[1].close();
    allocator.close();
  }

  @Override
  public long version(ByteString key) {
    return find(key) ? blocks.version() : 0;
  }

  @Override
  public long deadline() {
    return found ? blocks.deadline() : 0;
  }

  @Override
  public Expiry expiry() {
    return expiry;
  }

  @Override
  public @Nullable Entry entry(ByteString key) {
    return find(key) ? loadedEntry(key) : null;
  }

  /**
   * Checks whether the key of the last {@link #version} or {@link #entry} can be put with a value
   * of this length. So the owner bounds its work for keys that were chosen to collide.
   *
   * @return 0, or {@link #TOO_MANY_COLLISIONS} or {@link #COLLISIONS_TOO_LONG}, which are negative
   */
  @Override
  public int admit(int valueLength) {
    if (bucket == null
        && tables[0].spills() * (GroupDescriptor.WORDS - 1) >= MAX_COLLISIONS
        && tables[0].freeSlots() + tables[1].freeSlots() == 0
        && freeSpill() == null) {
      excess = (long) tables[0].spills() * (GroupDescriptor.WORDS - 1);
      return TOO_MANY_COLLISIONS;
    }
    if (collisionBytes > 0) {
      final long bytes = collisionBytes + BlockDescriptor.length(keyLength, valueLength);
      if (bytes > MAX_COLLISION_BYTES) {
        excess = bytes;
        return COLLISIONS_TOO_LONG;
      }
    }
    return 0;
  }

  @Override
  public long excess() {
    return excess;
  }

  @Override
  public int reserve(int keyLength, int valueLength) {
    return reserve(keyLength, valueLength, false);
  }

  @Override
  public int reserve(int keyLength, int valueLength, boolean hasDeadline) {
    final int sizeClass =
        memory.sizeClass(BlockDescriptor.length(keyLength, valueLength, hasDeadline));
    if (sizeClass == 0) {
      return TOO_LONG;
    }
    if (isFuller(reservations, MAX_PERCENT)) {
      searched = null;
      if (!tables[growing()].growNow()) {
        return FULL;
      }
    }
    if (!allocator.reserve(sizeClass)) {
      return FULL;
    }
    // A spill, in case that both combined buckets of the key are full.
    if (!allocator.reserve(BucketTable.SPILL_CLASS)) {
      allocator.release(sizeClass);
      return FULL;
    }
    reservations++;
    return 0;
  }

  @Override
  public void release(int keyLength, int valueLength) {
    release(keyLength, valueLength, false);
  }

  @Override
  public void release(int keyLength, int valueLength, boolean hasDeadline) {
    allocator.release(
        SizeClasses.of((int) BlockDescriptor.length(keyLength, valueLength, hasDeadline)));
    allocator.release(BucketTable.SPILL_CLASS);
    reservations--;
  }

  /**
   * Stores an entry, which replaces the key's former one. Consumes a reservation with these
   * lengths.
   *
   * @param version from 1 to {@link #MAX_VERSION}, unique in this store
   */
  @Override
  public void put(ByteString key, ByteString value, long version) {
    put(key, value, version, 0);
  }

  @Override
  public void put(ByteString key, ByteString value, long version, long deadline) {
    if (version < 1 || version > MAX_VERSION) {
      throw new IllegalArgumentException("not a version: version=" + version);
    }
    final boolean isThere = findToWrite(key);
    searched = null;
    final long oldSlot = slot;
    if (isThere) {
      replacing();
      if (blocks.deadline() != 0) {
        expiry.ended();
      }
    }
    spilled = false;
    final int length = (int) BlockDescriptor.length(keyLength, value.size(), deadline != 0);
    final int sizeClass = SizeClasses.of(length);
    final long address = allocator.take(sizeClass);
    blocks.write(address, keyBytes, keyLength, value, version, deadline);
    if (!isThere) {
      place();
    }
    final long newSlot = GroupDescriptor.slot(KeyHash.fingerprint(hash), sizeClass, address);
    storing(isThere ? oldSlot : 0, newSlot, version);
    table.store(bucket, slotNumber, newSlot);
    blocks.publish(address);
    reservations--;
    if (!spilled) {
      allocator.release(BucketTable.SPILL_CLASS);
    }
    if (deadline != 0) {
      expiry.added(deadline, version, newSlot);
    }
    if (isThere) {
      allocator.give(GroupDescriptor.address(oldSlot));
    } else {
      count.lazySet(count.getPlain() + 1);
      if (isFuller(0, URGENT_PERCENT)) {
        grow();
      }
    }
    expiry.sweep();
  }

  /** Called before an entry is replaced, while its block is loaded. */
  void replacing() {}

  /** Called when an entry's block is written, and still invalid; the old slot is 0 if it is new. */
  void storing(long oldSlot, long newSlot, long version) {}

  /** Called before an entry is removed, while its block is loaded. */
  void removing(long oldSlot) {}

  final BlockStore blocks() {
    return blocks;
  }

  @Override
  public boolean delete(ByteString key) {
    if (!findToWrite(key)) {
      return false;
    }
    searched = null;
    if (blocks.deadline() != 0) {
      expiry.ended();
    }
    removing(slot);
    table.store(bucket, slotNumber, 0);
    allocator.give(GroupDescriptor.address(slot));
    count.lazySet(count.getPlain() - 1);
    expiry.sweep();
    return true;
  }

  /**
   * Does one bounded step of growth: the split of a group, or a part of it if blocks or chains are
   * long. The owner calls it once per duty cycle with puts; otherwise puts must do it themselves in
   * the end.
   *
   * @return whether there is more to do
   */
  @Override
  public boolean grow() {
    searched = null;
    return isFuller(0, FILL_PERCENT) && tables[growing()].grow() && isFuller(0, FILL_PERCENT);
  }

  /** Grows the tables for this total of entries, as far as memory allows. */
  void expect(long entries) {
    searched = null;
    while (isFuller(entries - count.getPlain(), FILL_PERCENT) && tables[growing()].growNow()) {
      // one group more
    }
  }

  /**
   * Loads the blocks of all entries, one after the other, for a receiver that takes their slots.
   */
  final void walk(LongPredicate slots) {
    searched = null;
    final EntryWalk walk = new EntryWalk();
    for (final BucketTable walked : tables) {
      while (!walked.step(walk, slots)) {
        // on to the next groups
      }
      walk.group = 0;
    }
  }

  @Override
  public void step(EntryWalk walk) {
    searched = null;
    while (tables[walk.table].step(
        walk, place -> walk.add(loadedEntry(ByteString.copyFrom(blocks.key()))))) {
      if (walk.table == 1) {
        walk.end();
        return;
      }
      walk.table = 1;
      walk.group = 0;
    }
  }

  private Entry loadedEntry(ByteString key) {
    return Entry.newBuilder()
        .setKey(key)
        .setValue(blocks.value())
        .setVersion(blocks.version())
        .setDeadlineMs(blocks.deadline())
        .build();
  }

  @Override
  public long count() {
    return count.get();
  }

  private boolean isFuller(long more, int percent) {
    final long slots =
        (long) GroupDescriptor.GROUP_SLOTS * (tables[0].groups() + tables[1].groups());
    return (count.getPlain() + more) * 100 > slots * percent;
  }

  /** The growing table: the one between two powers of two, else the smaller one. */
  private int growing() {
    final int groups0 = tables[0].groups();
    final int groups1 = tables[1].groups();
    if (Integer.bitCount(groups0) != 1) {
      return 0;
    }
    return Integer.bitCount(groups1) != 1 || groups1 < groups0 ? 1 : 0;
  }

  /** Finds a free slot for the key in the emptier of its combined buckets. */
  private void place() {
    final int free0 = tables[0].freeSlots();
    final int free1 = tables[1].freeSlots();
    table = tables[free1 > free0 ? 1 : 0];
    if (free0 + free1 > 0) {
      bucket = table.main().freeSlot() == 0 ? table.overflow() : table.main();
    } else {
      bucket = freeSpill();
      if (bucket == null) {
        bucket = table.addSpill();
        spilled = true;
      }
    }
    slotNumber = bucket.freeSlot();
  }

  /** A spill of the key with a free slot, or null. Only table 0 has spills. */
  private @Nullable Bucket freeSpill() {
    for (int i = tables[0].spills() - 1; i >= 0; i--) {
      final Bucket spill = tables[0].spill(i);
      if (spill.freeSlot() != 0) {
        return spill;
      }
    }
    return null;
  }

  /** Finds a key; leaves its bytes and hash in fields, and its slot and its block if it has one. */
  private boolean find(ByteString key) {
    searched = null;
    found = search(key);
    searched = key;
    return found;
  }

  /** Finds a key for a write; reuses the result of {@link #find} if that was the last search. */
  @SuppressWarnings("ReferenceEquality") // equal keys may be compared in vain
  private boolean findToWrite(ByteString key) {
    return searched == key ? found : find(key);
  }

  private boolean search(ByteString key) {
    keyLength = key.size();
    if (keyBytes.length < keyLength) {
      keyBytes = new byte[Math.max(keyLength, 2 * keyBytes.length)];
    }
    key.copyTo(keyBytes, 0);
    hash = KeyHash.of(keyBytes, 0, keyLength, seed);
    collisionBytes = 0;
    bucket = null;
    tables[0].load(hash);
    tables[1].load(hash);
    boolean isThere = false;
    for (int t = 0; t < 2; t++) {
      isThere = find(tables[t], tables[t].main(), isThere);
      isThere = find(tables[t], tables[t].overflow(), isThere);
    }
    int inSpill = -1;
    for (int i = tables[0].spills() - 1; i >= 0; i--) {
      final boolean before = isThere;
      isThere = find(tables[0], tables[0].spill(i), isThere);
      inSpill = isThere && !before ? i : inSpill;
    }
    if (inSpill > 0) {
      final Bucket unused = tables[0].spill(inSpill); // the bucket again, after later ones
    }
    return isThere;
  }

  /** Searches for the key, unless it was found before, and counts the bytes of colliding blocks. */
  private boolean find(BucketTable inTable, Bucket in, boolean foundBefore) {
    final int fingerprint = KeyHash.fingerprint(hash);
    boolean isThere = foundBefore;
    for (int i = in.next(fingerprint, 0); i != 0; i = in.next(fingerprint, i)) {
      if (!isThere) {
        blocks.load(in.word(i));
        if (blocks.hasKey(keyBytes, keyLength)) {
          table = inTable;
          bucket = in;
          slotNumber = i;
          slot = in.word(i);
          isThere = true;
          continue;
        }
      }
      collisionBytes += SizeClasses.length(GroupDescriptor.sizeClass(in.word(i)));
    }
    return isThere;
  }

  @Override
  public void verify() {
    memory.verify();
  }

  @Override
  public boolean isRefused() {
    return root.isRefused();
  }

  @Override
  public void refuse(Throwable damage) {
    root.refuse(damage);
  }
}
