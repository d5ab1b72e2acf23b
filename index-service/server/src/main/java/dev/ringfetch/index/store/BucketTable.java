package dev.ringfetch.index.store;

import static dev.ringfetch.index.layout.GroupDescriptor.BUCKET_LENGTH;
import static dev.ringfetch.index.layout.GroupDescriptor.GROUP_LENGTH;
import static dev.ringfetch.index.layout.GroupDescriptor.SPILL_LENGTH;

import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.index.layout.GroupDescriptor;
import dev.ringfetch.index.layout.KeyHash;
import dev.ringfetch.index.layout.SizeClasses;
import dev.ringfetch.index.layout.TableDescriptor;
import java.util.Arrays;

/**
 * One of a partition's two tables: bucket groups that grow by splits, one group at a time, in the
 * order of linear hashing (Litwin, VLDB 1980) over the groups of RACE (Zuo et al., USENIX ATC 2021,
 * section 3.2). Used by the partition's owner alone; readers follow {@link GroupDescriptor}.
 */
final class BucketTable {
  /** Class of the blocks that spills are. */
  static final int SPILL_CLASS = SizeClasses.of(SPILL_LENGTH);

  private final StoreMemory memory;
  private final BlockAllocator allocator;
  private final BlockStore blocks;
  private final long head;
  private final int number;
  private final int doublings;
  private final long[] pages = new long[TableDescriptor.PAGES];
  private final long[][] extents = new long[TableDescriptor.PAGES][];
  private int groups;

  /** Addresses of slots in spills whose keys a split moved. */
  private long[] movedSpilled = new long[16];

  private int movedSpilledCount;

  /**
   * Creates a table without groups.
   *
   * @param head address of its head
   * @param number 0 or 1: which half of the hash it goes by
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
    putRelease(address(0) + GroupDescriptor.HEADER_OFFSET, GroupDescriptor.header(0, 0));
    setGroups(1);
    return true;
  }

  int groups() {
    return groups;
  }

  /** Address of the combined bucket of a hash. */
  long combined(long hash) {
    final int half = KeyHash.half(hash, number);
    return address(KeyHash.group(half, groups))
        + GroupDescriptor.combinedOffset(KeyHash.side(half));
  }

  /** Address of the first word of the main bucket of a hash: the link to its spills. */
  long main(long hash) {
    final int half = KeyHash.half(hash, number);
    return address(KeyHash.group(half, groups)) + GroupDescriptor.mainOffset(KeyHash.side(half));
  }

  /** Address of the overflow bucket of a hash. */
  long overflow(long hash) {
    final int half = KeyHash.half(hash, number);
    return address(KeyHash.group(half, groups)) + BUCKET_LENGTH;
  }

  private long address(int group) {
    final int page = TableDescriptor.page(group, doublings);
    return extents[page][TableDescriptor.extent(group, page, doublings)]
        + TableDescriptor.offset(group, page, doublings);
  }

  private long get(long address) {
    return memory.region(address).getLong(memory.offset(address));
  }

  private void put(long address, long value) {
    memory.region(address).putLong(memory.offset(address), value);
  }

  private void putRelease(long address, long value) {
    memory.region(address).putLongRelease(memory.offset(address), value);
  }

  private void setGroups(int count) {
    groups = count;
    putRelease(head + TableDescriptor.GROUPS_OFFSET, count);
  }

  /** Sees to the memory of a group; returns false if there is none. */
  private boolean ensure(int group) {
    final int page = TableDescriptor.page(group, doublings);
    if (page >= TableDescriptor.PAGES || group >= TableDescriptor.MAX_GROUPS) {
      return false;
    }
    if (extents[page] == null) {
      final long address = memory.allocateZeroed(StoreMemory.units(TableDescriptor.PAGE_LENGTH));
      if (address == StoreMemory.NONE) {
        return false;
      }
      extents[page] = new long[TableDescriptor.PAGE_EXTENTS];
      pages[page] = address;
      putRelease(head + TableDescriptor.PAGES_OFFSET + (long) page * Long.BYTES, address);
    }
    final int extent = TableDescriptor.extent(group, page, doublings);
    if (extents[page][extent] == 0) {
      final int units = StoreMemory.units(TableDescriptor.extentLength(page, doublings));
      final long address = memory.allocateZeroed(units);
      if (address == StoreMemory.NONE) {
        return false;
      }
      extents[page][extent] = address;
      putRelease(pages[page] + (long) extent * Long.BYTES, address);
    }
    return true;
  }

  /**
   * Splits the next group. The keys that leave it are copied, the new group goes live, the old one
   * gives them up, and only then their old slots are cleared: at any moment a reader finds each key
   * in a group whose header has it.
   *
   * @return whether there was memory for it
   */
  boolean split() {
    final int power = Integer.highestOneBit(groups);
    final int oldNumber = groups - power;
    final int newNumber = groups;
    if (!ensure(newNumber)) {
      return false;
    }
    final long oldGroup = address(oldNumber);
    final long newGroup = address(newNumber);
    final int spills = spills(oldGroup, 0) + spills(oldGroup, 1);
    for (int i = 0; i < spills; i++) {
      if (!allocator.reserve(SPILL_CLASS)) {
        for (; i > 0; i--) {
          allocator.release(SPILL_CLASS);
        }
        return false;
      }
    }
    final int moved = copy(oldGroup, newGroup, power);
    movedSpilledCount = 0;
    final int taken =
        spills == 0
            ? 0
            : copySpilled(oldGroup, newGroup, power, 0) + copySpilled(oldGroup, newGroup, power, 1);
    for (int i = taken; i < spills; i++) {
      allocator.release(SPILL_CLASS);
    }
    final int depth = Integer.numberOfTrailingZeros(power) + 1;
    putRelease(newGroup + GroupDescriptor.HEADER_OFFSET, GroupDescriptor.header(depth, newNumber));
    putRelease(oldGroup + GroupDescriptor.HEADER_OFFSET, GroupDescriptor.header(depth, oldNumber));
    setGroups(newNumber + 1);
    clear(oldGroup, moved);
    return true;
  }

  private boolean moves(long slot, int bit) {
    return slot != 0 && (KeyHash.half(blocks.hash(slot), number) & bit) != 0;
  }

  /** Copies the slots that move, each to the same place; returns a bit for each of them. */
  private int copy(long oldGroup, long newGroup, int bit) {
    int moved = 0;
    for (int word = 0; word < GROUP_LENGTH / Long.BYTES; word++) {
      if (word % (BUCKET_LENGTH / Long.BYTES) != 0) {
        final long slot = get(oldGroup + (long) word * Long.BYTES);
        if (moves(slot, bit)) {
          put(newGroup + (long) word * Long.BYTES, slot);
          moved |= 1 << word;
        }
      }
    }
    return moved;
  }

  private void clear(long oldGroup, int moved) {
    for (int rest = moved; rest != 0; rest &= rest - 1) {
      putRelease(oldGroup + (long) Integer.numberOfTrailingZeros(rest) * Long.BYTES, 0);
    }
    for (int i = 0; i < movedSpilledCount; i++) {
      putRelease(movedSpilled[i], 0);
    }
  }

  private int spills(long group, int side) {
    int count = 0;
    long spill = get(group + GroupDescriptor.mainOffset(side));
    while (spill != 0) {
      count++;
      spill = get(spill);
    }
    return count;
  }

  /** Copies the slots of one side's spills that move; returns how many spills it took for them. */
  private int copySpilled(long oldGroup, long newGroup, int bit, int side) {
    int taken = 0;
    long spill = get(oldGroup + GroupDescriptor.mainOffset(side));
    while (spill != 0) {
      for (int word = 1; word < GroupDescriptor.WORDS; word++) {
        final long slot = get(spill + (long) word * Long.BYTES);
        if (moves(slot, bit)) {
          long place = freeSlot(newGroup, side);
          if (place == 0) {
            addSpill(newGroup + GroupDescriptor.mainOffset(side));
            taken++;
            place = freeSlot(newGroup, side);
          }
          put(place, slot);
          if (movedSpilledCount == movedSpilled.length) {
            movedSpilled = Arrays.copyOf(movedSpilled, 2 * movedSpilledCount);
          }
          movedSpilled[movedSpilledCount++] = spill + (long) word * Long.BYTES;
        }
      }
      spill = get(spill);
    }
    return taken;
  }

  private long freeSlot(long group, int side) {
    final long main = group + GroupDescriptor.mainOffset(side);
    long place = freeSlot(main, 1, BUCKET_LENGTH / Long.BYTES);
    if (place == 0) {
      place = freeSlot(group + BUCKET_LENGTH, 1, BUCKET_LENGTH / Long.BYTES);
    }
    return place == 0 ? freeSpilledSlot(main) : place;
  }

  private long freeSlot(long address, int from, int to) {
    for (int word = from; word < to; word++) {
      if (get(address + (long) word * Long.BYTES) == 0) {
        return address + (long) word * Long.BYTES;
      }
    }
    return 0;
  }

  /** A free slot for a hash in its combined bucket, or 0. */
  long freeSlot(long hash) {
    final long place = freeSlot(main(hash), 1, BUCKET_LENGTH / Long.BYTES);
    return place != 0 ? place : freeSlot(overflow(hash), 1, BUCKET_LENGTH / Long.BYTES);
  }

  /** A free slot in the spills behind a link, or 0. */
  long freeSpilledSlot(long link) {
    long spill = get(link);
    while (spill != 0) {
      final long place = freeSlot(spill, 1, GroupDescriptor.WORDS);
      if (place != 0) {
        return place;
      }
      spill = get(spill);
    }
    return 0;
  }

  /** Adds an empty spill, for which a block is reserved, behind a link. */
  void addSpill(long link) {
    final long spill = allocator.take(SPILL_CLASS);
    memory.zero(spill, SPILL_LENGTH);
    put(spill, get(link));
    putRelease(link, spill);
  }

  /** Number of free slots in a hash's combined bucket. */
  int freeSlots(long hash) {
    final long combined = combined(hash);
    final MemoryRegion region = memory.region(combined);
    final int offset = memory.offset(combined);
    final int half = BUCKET_LENGTH / Long.BYTES;
    int free = 0;
    for (int word = 1; word < half; word++) {
      free += region.getLong(offset + word * Long.BYTES) == 0 ? 1 : 0;
      free += region.getLong(offset + (half + word) * Long.BYTES) == 0 ? 1 : 0;
    }
    return free;
  }

  /** Gives the memory of the table back, except its head and spills. */
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
