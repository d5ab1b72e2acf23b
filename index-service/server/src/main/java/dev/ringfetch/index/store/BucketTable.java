package dev.ringfetch.index.store;

import static dev.ringfetch.index.layout.GroupDescriptor.BUCKETS;
import static dev.ringfetch.index.layout.GroupDescriptor.BUCKET_LENGTH;
import static dev.ringfetch.index.layout.GroupDescriptor.GROUP_LENGTH;
import static dev.ringfetch.index.layout.GroupDescriptor.SPILL_LENGTH;

import dev.ringfetch.index.layout.GroupDescriptor;
import dev.ringfetch.index.layout.KeyHash;
import dev.ringfetch.index.layout.SizeClasses;
import dev.ringfetch.index.layout.TableDescriptor;
import java.util.Arrays;
import java.util.function.LongPredicate;
import org.agrona.collections.Int2ObjectHashMap;

/**
 * One of a partition's two tables: bucket groups that grow by splits, one group at a time, in the
 * order of linear hashing (Litwin, VLDB 1980) over the groups of RACE (Zuo et al., USENIX ATC 2021,
 * section 3.2). Used by the partition's owner alone; readers follow {@link GroupDescriptor}.
 *
 * <p>The owner finds its way by data on the heap: the number of groups, their addresses and those
 * of their spills, and a checksum per bucket and spill. So it detects changes by other processes,
 * in bounded time.
 */
final class BucketTable {
  /** Size class of the blocks of spills. */
  static final int SPILL_CLASS = SizeClasses.of(SPILL_LENGTH);

  /** Number of the overflow bucket in a group, whose first word is the header. */
  private static final int OVERFLOW = 1;

  /** Limit of the blocks whose hashes one step of growth learns. */
  private static final int PIECE_BLOCKS = 64;

  /** Bytes of such blocks that end the step. */
  private static final int PIECE_BYTES = 256 << 10;

  private final StoreMemory memory;
  private final BlockAllocator allocator;
  private final BlockStore blocks;
  private final long head;
  private final int number;
  private final int doublings;
  private final long[] pages = new long[TableDescriptor.PAGES];
  private final long[][] extents = new long[TableDescriptor.PAGES][];

  /** Checksums of the buckets, by page, extent, and bucket in the extent. */
  private final int[][][] sums = new int[TableDescriptor.PAGES][][];

  /** Spills by group and side; few sides have any. */
  private final Int2ObjectHashMap<SpillChain> chains = new Int2ObjectHashMap<>();

  private int groups;

  // The buckets of the hash that was loaded last.
  private final Bucket main = new Bucket();
  private final Bucket overflow = new Bucket();
  private final Bucket spill = new Bucket();
  private int group;
  private int side;
  private SpillChain chain;

  // Of splits.
  private final SplitPlan plan = new SplitPlan();
  private final Bucket old = new Bucket();
  private final Bucket[] fresh = {new Bucket(), new Bucket(), new Bucket()};
  private final Bucket freshSpill = new Bucket();

  /** One bit per slot that moves, for each bucket of the group that splits. */
  private int[] moved = new int[BUCKETS];

  private int spillsTaken;

  /**
   * Creates a table without groups.
   *
   * @param head address of its head
   * @param number 0 or 1: selects the half of the hash
   */
  BucketTable(
      StoreMemory memory, BlockAllocator allocator, BlockStore blocks, long head, int number) {
    this.memory = memory;
    this.allocator = allocator;
    this.blocks = blocks;
    this.head = head;
    this.number = number;
    doublings = TableDescriptor.doublings(memory.segmentShift());
  }

  /** Creates the first group; returns false if there is no memory. */
  boolean open() {
    if (!ensure(0)) {
      return false;
    }
    load(0, OVERFLOW, old);
    old.putRelease(0, GroupDescriptor.header(0, 0));
    setGroups(1);
    return true;
  }

  int groups() {
    return groups;
  }

  /**
   * Copies the buckets of a hash.
   *
   * @throws StoreDamagedException if their content is not what was written
   */
  void load(long hash) {
    final int half = KeyHash.half(hash, number);
    group = KeyHash.group(half, groups);
    side = KeyHash.side(half);
    load(group, 2 * side, main);
    load(group, OVERFLOW, overflow);
    chain = main.word(0) == 0 ? null : chain(group, side);
  }

  /** The main bucket of the hash. */
  Bucket main() {
    return main;
  }

  /** The overflow bucket of the hash. */
  Bucket overflow() {
    return overflow;
  }

  /** Number of spills of the hash. */
  int spills() {
    return chain == null ? 0 : chain.count();
  }

  /** A spill of the hash, valid until the next call. */
  Bucket spill(int spillNumber) {
    chain.load(memory, spillNumber, spill);
    return spill;
  }

  /** Number of free slots in the two buckets of the hash. */
  int freeSlots() {
    return main.freeSlots() + overflow.freeSlots();
  }

  /** Adds a spill for the hash; its block must be reserved. */
  Bucket addSpill() {
    chain = addSpill(group, side, main, spill);
    return spill;
  }

  /** Stores a slot into a bucket or spill of the hash, after all earlier stores. */
  void store(Bucket bucket, int slot, long word) {
    plan.forget(group, bucket, slot);
    bucket.putRelease(slot, word);
  }

  private SpillChain addSpill(int toGroup, int toSide, Bucket toMain, Bucket into) {
    final int key = 2 * toGroup + toSide;
    SpillChain extended = chains.get(key);
    if (extended == null) {
      extended = new SpillChain(toSide);
      chains.put(key, extended);
    }
    final long address = allocator.take(SPILL_CLASS);
    memory.zero(address, SPILL_LENGTH);
    extended.add(address);
    extended.load(memory, extended.count() - 1, into);
    into.put(0, toMain.word(0));
    toMain.putRelease(0, address);
    return extended;
  }

  private SpillChain chain(int ofGroup, int ofSide) {
    return chains.get(2 * ofGroup + ofSide);
  }

  private int spills(int ofGroup, int ofSide) {
    final SpillChain found = chain(ofGroup, ofSide);
    return found == null ? 0 : found.count();
  }

  /** Copies a bucket of a group by its number; returns false for a spill that does not exist. */
  private boolean load(int ofGroup, int ordinal, Bucket into) {
    if (ordinal < BUCKETS) {
      final int page = TableDescriptor.page(ofGroup, doublings);
      final int extent = TableDescriptor.extent(ofGroup, page, doublings);
      final int offset = TableDescriptor.offset(ofGroup, page, doublings) + ordinal * BUCKET_LENGTH;
      into.load(
          memory,
          extents[page][extent] + offset,
          ordinal,
          sums[page][extent],
          offset / BUCKET_LENGTH);
      return true;
    }
    final int ofSide = (ordinal - BUCKETS) & 1;
    final int spillNumber = (ordinal - BUCKETS) / 2;
    if (spillNumber >= spills(ofGroup, ofSide)) {
      return false;
    }
    chain(ofGroup, ofSide).load(memory, spillNumber, into);
    return true;
  }

  /** One more than the highest number of a bucket of a group. */
  private int ordinals(int ofGroup) {
    return BUCKETS + 2 * Math.max(spills(ofGroup, 0), spills(ofGroup, 1));
  }

  private void putRelease(long address, long value) {
    memory.region(address).putLongRelease(memory.offset(address), value);
  }

  private void setGroups(int count) {
    groups = count;
    putRelease(head + TableDescriptor.GROUPS_OFFSET, count);
  }

  /** Allocates the memory of a group if necessary; returns false if there is none left. */
  private boolean ensure(int newGroup) {
    final int page = TableDescriptor.page(newGroup, doublings);
    if (page >= TableDescriptor.PAGES || newGroup >= TableDescriptor.MAX_GROUPS) {
      return false;
    }
    if (extents[page] == null) {
      final long address = memory.allocateZeroed(StoreMemory.units(TableDescriptor.PAGE_LENGTH));
      if (address == StoreMemory.NONE) {
        return false;
      }
      extents[page] = new long[TableDescriptor.PAGE_EXTENTS];
      sums[page] = new int[TableDescriptor.PAGE_EXTENTS][];
      pages[page] = address;
      putRelease(head + TableDescriptor.PAGES_OFFSET + (long) page * Long.BYTES, address);
    }
    final int extent = TableDescriptor.extent(newGroup, page, doublings);
    if (extents[page][extent] == 0) {
      final int length = TableDescriptor.extentLength(page, doublings);
      final long address = memory.allocateZeroed(StoreMemory.units(length));
      if (address == StoreMemory.NONE) {
        return false;
      }
      extents[page][extent] = address;
      sums[page][extent] = new int[length / GROUP_LENGTH * BUCKETS];
      putRelease(pages[page] + (long) extent * Long.BYTES, address);
    }
    return true;
  }

  /**
   * Does one bounded step of growth: learns the targets of keys of the next group, and splits the
   * group if all are known.
   *
   * @return whether there was enough memory
   */
  boolean grow() {
    if (!ensure(groups)) {
      return false;
    }
    return !learn(PIECE_BLOCKS, PIECE_BYTES) || split();
  }

  /** Splits the next group without a bound of time; returns whether there was enough memory. */
  boolean growNow() {
    return ensure(groups) && learn(Integer.MAX_VALUE, Integer.MAX_VALUE) && split();
  }

  /**
   * Continues a walk through this table from its group, ordinal and slot on.
   *
   * @param sink returns whether the step continues after the loaded block
   * @return whether all groups were visited
   */
  boolean step(EntryWalk walk, LongPredicate sink) {
    for (int visited = 0; walk.group < groups; visited++) {
      if (visited == EntryWalk.STEP_GROUPS) {
        return false;
      }
      for (; walk.ordinal < ordinals(walk.group); walk.ordinal++, walk.slot = 0) {
        if (!load(walk.group, walk.ordinal, old)) {
          continue;
        }
        while (++walk.slot < old.length()) {
          if (old.word(walk.slot) != 0) {
            blocks.load(old.word(walk.slot));
            if (!sink.test(old.word(walk.slot))) {
              return false;
            }
          }
        }
      }
      walk.group++;
      walk.ordinal = 0;
      walk.slot = 0;
    }
    return true;
  }

  /** Number of the next group to split. */
  private int nextOld() {
    return groups - Integer.highestOneBit(groups);
  }

  /**
   * Learns the hashes of keys of the next group to split.
   *
   * @param mostBlocks limit of the blocks to read
   * @param mostBytes bytes after which no further block is read
   * @return whether all are known
   */
  private boolean learn(int mostBlocks, int mostBytes) {
    final int oldNumber = nextOld();
    plan.begin(oldNumber);
    int blocksLeft = mostBlocks;
    long bytesLeft = mostBytes;
    for (int ordinal = 0; ordinal < ordinals(oldNumber); ordinal++) {
      if (!load(oldNumber, ordinal, old)) {
        continue;
      }
      for (int i = 1; i < old.length(); i++) {
        if (old.word(i) == 0 || plan.knows(old, i)) {
          continue;
        }
        if (blocksLeft == 0 || bytesLeft <= 0) {
          return false;
        }
        blocks.load(old.word(i));
        plan.learn(old, i, KeyHash.half(blocks.hash(), number));
        blocksLeft--;
        bytesLeft -= SizeClasses.length(GroupDescriptor.sizeClass(old.word(i)));
      }
    }
    return true;
  }

  /**
   * Splits the next group; the hashes of all its keys are known. First it copies the keys that
   * move, then it makes the new group live, then it changes the old header, and last it clears the
   * old slots. So at any moment a reader finds each key in a group whose header covers it.
   *
   * @return whether there was enough memory
   */
  private boolean split() {
    final int power = Integer.highestOneBit(groups);
    final int oldNumber = nextOld();
    final int newNumber = groups;
    final int spills = spills(oldNumber, 0) + spills(oldNumber, 1);
    if (!reserveSpills(spills)) {
      return false;
    }
    copy(oldNumber, newNumber, power);
    for (int i = spillsTaken; i < spills; i++) {
      allocator.release(SPILL_CLASS);
    }
    final int depth = Integer.numberOfTrailingZeros(power) + 1;
    fresh[OVERFLOW].putRelease(0, GroupDescriptor.header(depth, newNumber));
    load(oldNumber, OVERFLOW, old);
    old.putRelease(0, GroupDescriptor.header(depth, oldNumber));
    setGroups(newNumber + 1);
    clear(oldNumber);
    plan.end();
    return true;
  }

  private boolean reserveSpills(int spills) {
    for (int i = 0; i < spills; i++) {
      if (!allocator.reserve(SPILL_CLASS)) {
        for (; i > 0; i--) {
          allocator.release(SPILL_CLASS);
        }
        return false;
      }
    }
    return true;
  }

  /**
   * Copies the slots that move: those of buckets to the same place, those of spills to any free
   * place.
   */
  private void copy(int oldNumber, int newNumber, int bit) {
    spillsTaken = 0;
    final int ordinals = ordinals(oldNumber);
    if (moved.length < ordinals) {
      moved = new int[ordinals];
    }
    Arrays.fill(moved, 0);
    for (int ordinal = 0; ordinal < BUCKETS; ordinal++) {
      load(newNumber, ordinal, fresh[ordinal]);
    }
    for (int ordinal = 0; ordinal < ordinals; ordinal++) {
      if (!load(oldNumber, ordinal, old)) {
        continue;
      }
      for (int i = 1; i < old.length(); i++) {
        if (old.word(i) != 0 && (plan.half(old, i) & bit) != 0) {
          if (ordinal < BUCKETS) {
            fresh[ordinal].put(i, old.word(i));
          } else {
            place(newNumber, (ordinal - BUCKETS) & 1, old.word(i));
          }
          moved[ordinal] |= 1 << i;
        }
      }
    }
  }

  /** Stores a slot at a free place of a side of a new group; in a new spill if there is none. */
  private void place(int newNumber, int newSide, long slot) {
    Bucket to = fresh[2 * newSide];
    if (to.freeSlot() == 0) {
      to = fresh[OVERFLOW];
    }
    if (to.freeSlot() == 0) {
      to = freshSpill;
      final SpillChain newChain = chain(newNumber, newSide);
      if (newChain != null) {
        newChain.load(memory, newChain.count() - 1, freshSpill);
      }
      if (newChain == null || freshSpill.freeSlot() == 0) {
        addSpill(newNumber, newSide, fresh[2 * newSide], freshSpill);
        spillsTaken++;
      }
    }
    to.put(to.freeSlot(), slot);
  }

  private void clear(int oldNumber) {
    for (int ordinal = 0; ordinal < ordinals(oldNumber); ordinal++) {
      int rest = moved[ordinal];
      if (rest != 0) {
        load(oldNumber, ordinal, old);
      }
      for (; rest != 0; rest &= rest - 1) {
        old.putRelease(Integer.numberOfTrailingZeros(rest), 0);
      }
    }
  }

  /** Frees the memory of the table, except its head and spills. */
  void close() {
    for (int page = 0; page < TableDescriptor.PAGES && extents[page] != null; page++) {
      final int units = StoreMemory.units(TableDescriptor.extentLength(page, doublings));
      for (long extent : extents[page]) {
        if (extent != 0) {
          memory.free(extent, units);
        }
      }
      memory.free(pages[page], StoreMemory.units(TableDescriptor.PAGE_LENGTH));
    }
  }
}
