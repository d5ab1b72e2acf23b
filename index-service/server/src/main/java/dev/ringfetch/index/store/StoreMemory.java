package dev.ringfetch.index.store;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ringfetch.fabric.MemoryFaults;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.index.layout.Reads;
import dev.ringfetch.index.layout.SegmentReads;
import dev.ringfetch.index.layout.SizeClasses;
import dev.ringfetch.index.layout.StoreDescriptor;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The index memory of a server: segments up to a budget, shared by the partitions of all indexes,
 * and the words that open it to readers.
 *
 * <p>Memory is allocated in runs of units of {@value #UNIT_LENGTH} bytes, each run within one
 * segment. Partitions divide runs into blocks, so they allocate rarely.
 *
 * <p>Once less than half a segment is free, the next segment is {@linkplain SegmentGrowth prepared}
 * on the executor, so that owners do not wait for it.
 *
 * <p>Safe for use by many threads. Allocation and freeing are synchronized.
 */
public final class StoreMemory implements SegmentReads.Segments {
  /** A source of zeroed segments. */
  public interface SegmentSource {
    /** Returns a new, zeroed segment of this length in bytes. */
    MemoryRegion grow(int length) throws IOException;
  }

  /** Options of a store memory. Each setter returns this. */
  public static final class Context {
    /** Default length of a segment: 64 MiB. */
    public static final int SEGMENT_LENGTH_DEFAULT = 64 << 20;

    private SegmentSource source;
    private Executor growth = Runnable::run;
    private LongSupplier clock = System::nanoTime;
    private int segmentLength = SEGMENT_LENGTH_DEFAULT;
    private long budget = SEGMENT_LENGTH_DEFAULT;
    private MemoryRegion gate;
    private int gateOffset;
    private long incarnation;
    private long seed;

    /** Sets the source of segments. */
    public Context segmentSource(SegmentSource source) {
      this.source = source;
      return this;
    }

    /**
     * Sets the executor that creates segments ahead of their use. By default, the owner that needs
     * memory creates them.
     */
    public Context growth(Executor executor) {
      growth = executor;
      return this;
    }

    /** Sets the clock, in nanoseconds, for the retries of failed creations. */
    public Context clock(LongSupplier nanoseconds) {
      clock = nanoseconds;
      return this;
    }

    /** Sets the length of a segment in bytes, a power of two from 64 KiB to 1 GiB. */
    public Context segmentLength(int bytes) {
      segmentLength = bytes;
      return this;
    }

    /** Sets the limit of the bytes of all segments, at least one segment. */
    public Context budget(long bytes) {
      budget = bytes;
      return this;
    }

    /** Sets the memory with the gate word, which this class only passes to readers. */
    public Context gate(MemoryRegion region, int offset) {
      gate = region;
      gateOffset = offset;
      return this;
    }

    /** Sets the incarnation of the server, the gate's value while it serves; not 0. */
    public Context incarnation(long incarnation) {
      this.incarnation = incarnation;
      return this;
    }

    /** Sets the seed from which the numbers and seeds of indexes are derived: a random number. */
    public Context seed(long seed) {
      this.seed = seed;
      return this;
    }

    private void conclude() {
      if (source == null || gate == null || incarnation == 0) {
        throw new IllegalArgumentException(
            "missing: source=" + source + " gate=" + gate + " incarnation=" + incarnation);
      }
      if (Integer.bitCount(segmentLength) != 1
          || segmentLength < MIN_SEGMENT_LENGTH
          || segmentLength > MAX_SEGMENT_LENGTH) {
        throw new IllegalArgumentException(
            "not a power of two from 64 KiB to 1 GiB: segmentLength=" + segmentLength);
      }
      if (budget < segmentLength || budget / segmentLength > MAX_SEGMENTS) {
        throw new IllegalArgumentException(
            "not from 1 to " + MAX_SEGMENTS + " segments: budget=" + budget);
      }
    }
  }

  /** Bytes of a unit. */
  static final int UNIT_LENGTH = 1024;

  /** Returned by {@link #allocate}: the budget is used up, or no segment could be created. */
  static final long NONE = -1;

  private static final byte[] ZEROS = new byte[4096];

  private static final int MIN_SEGMENT_LENGTH = 64 << 10;
  private static final int MAX_SEGMENT_LENGTH = 1 << 30;
  private static final int MAX_SEGMENTS = 1 << 20;

  private final Context context;
  private final int shift;
  private final int unitsPerSegment;
  private final AtomicReferenceArray<MemoryRegion> segments;

  /** The slab of each unit. An owner reads only those of its own partition. */
  private final Slab[][] slabs;

  @GuardedBy("this")
  private final BitSet[] used;

  @GuardedBy("this")
  private final int[] freeUnits;

  /** The shortest run that was not found in the segment since the last run was freed there. */
  @GuardedBy("this")
  private final int[] tooLong;

  @GuardedBy("this")
  private final Map<Integer, ArrayDeque<Long>> roots = new HashMap<>();

  private volatile int count;
  private final AtomicLong usedUnits = new AtomicLong();
  private final SegmentGrowth growth;

  /** Segments that were unmapped. */
  @GuardedBy("this")
  private final BitSet lost = new BitSet();

  /** The sum of the loads of {@link #quarantine}, kept so that they are not optimised away. */
  @SuppressWarnings("unused")
  @GuardedBy("this")
  private long touched;

  @GuardedBy("this")
  private long freeUnitsOfAll;

  @GuardedBy("this")
  private long indexes;

  /** Creates the memory with its first segment. */
  public StoreMemory(Context context) throws IOException {
    context.conclude();
    this.context = context;
    shift = Integer.numberOfTrailingZeros(context.segmentLength);
    unitsPerSegment = context.segmentLength / UNIT_LENGTH;
    final int max = (int) (context.budget >> shift);
    segments = new AtomicReferenceArray<>(max);
    slabs = new Slab[max][];
    used = new BitSet[max];
    freeUnits = new int[max];
    tooLong = new int[max];
    growth =
        new SegmentGrowth(context.source, context.segmentLength, context.growth, context.clock);
    if (!addSegment()) {
      throw growth.failure();
    }
    final MemoryRegion first = segments.get(0);
    take(0, 0, StoreDescriptor.LENGTH / UNIT_LENGTH);
    first.putLong(StoreDescriptor.FORMAT_OFFSET, StoreDescriptor.FORMAT);
    first.putLongRelease(StoreDescriptor.INCARNATION_OFFSET, context.incarnation);
  }

  /** Admits readers: stores the incarnation into the serving word. */
  public void serve() {
    segments.get(0).putLongRelease(StoreDescriptor.SERVING_OFFSET, context.incarnation);
  }

  /** Number of segments. */
  public int segments() {
    return count;
  }

  @Override
  public MemoryRegion segment(long number) {
    return number >= 0 && number < segments.length() ? segments.get((int) number) : null;
  }

  /** Binary logarithm of a segment's length. */
  public int segmentShift() {
    return shift;
  }

  /** Limit of the bytes of all segments. */
  public long budget() {
    return context.budget;
  }

  /** Bytes in use by tables and by blocks, including free blocks of a size class. */
  public long usedBytes() {
    return usedUnits.get() * UNIT_LENGTH;
  }

  /** Whether the number of segments has reached the budget. */
  public boolean isAtLimit() {
    return count == segments.length();
  }

  /** The failure of the last request for a segment; null if it succeeded. */
  public @Nullable IOException growthFailure() {
    return growth.failure();
  }

  /** How often an owner needed a segment before it was prepared. */
  public long lateGrowths() {
    return growth.late();
  }

  /** Class of the shortest blocks for a length; 0 if none is long enough. */
  int sizeClass(long length) {
    if (length > SizeClasses.MAX_LENGTH) {
      return 0;
    }
    final int sizeClass = SizeClasses.of((int) length);
    final int longest = context.segmentLength - StoreDescriptor.LENGTH - UNIT_LENGTH;
    return SizeClasses.length(sizeClass) > longest ? 0 : sizeClass;
  }

  /** Incarnation of the server. */
  long incarnation() {
    return context.incarnation;
  }

  /** Creates reads of this memory. */
  Reads newReads() {
    return new SegmentReads(this, shift, context.gate, context.gateOffset);
  }

  /** The segment of an allocated address. */
  MemoryRegion region(long address) {
    return segments.get((int) (address >>> shift));
  }

  /** Offset of an address in its segment. */
  int offset(long address) {
    return (int) address & (context.segmentLength - 1);
  }

  /**
   * A unique number for a new index, not 0: also among all servers, whose seeds differ, while the
   * first incarnation is 1 in each data directory.
   */
  synchronized long nextIndex() {
    long next;
    do {
      next = mix(mix(context.seed) + context.incarnation + mix(++indexes));
    } while (next == 0);
    return next;
  }

  /** The seed of an index. */
  long seed(long index) {
    return mix(context.seed ^ index);
  }

  /** A permutation of the 64-bit numbers: the finalizer of MurmurHash3, variant 13 by Stafford. */
  public static long mix(long value) {
    long mixed = value;
    mixed = (mixed ^ (mixed >>> 30)) * 0xBF58476D1CE4E5B9L;
    mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
    return mixed ^ (mixed >>> 31);
  }

  /** Number of units for a number of bytes. */
  static int units(int bytes) {
    return (bytes + UNIT_LENGTH - 1) / UNIT_LENGTH;
  }

  /** Allocates a run of units; returns its address, or {@link #NONE}. Its bytes are undefined. */
  synchronized long allocate(int units) {
    for (int s = 0; s < count; s++) {
      if (freeUnits[s] >= units && units < tooLong[s]) {
        final int unit = find(used[s], units);
        if (unit >= 0) {
          return take(s, unit, units);
        }
        tooLong[s] = units;
      }
    }
    if (units > unitsPerSegment || count == segments.length() || !addSegment()) {
      return NONE;
    }
    return take(count - 1, 0, units);
  }

  private int find(BitSet taken, int units) {
    int from = 0;
    while (true) {
      final int unit = taken.nextClearBit(from);
      if (unit + units > unitsPerSegment) {
        return -1;
      }
      final int next = taken.nextSetBit(unit);
      if (next < 0 || next - unit >= units) {
        return unit;
      }
      from = next;
    }
  }

  @GuardedBy("this")
  private long take(int segment, int unit, int units) {
    used[segment].set(unit, unit + units);
    freeUnits[segment] -= units;
    freeUnitsOfAll -= units;
    usedUnits.addAndGet(units);
    if (freeUnitsOfAll < unitsPerSegment / 2 && count < segments.length()) {
      growth.request();
    }
    return ((long) segment << shift) + (long) unit * UNIT_LENGTH;
  }

  @GuardedBy("this")
  private boolean addSegment() {
    final MemoryRegion region = growth.take();
    if (region == null) {
      return false;
    }
    final int number = count;
    used[number] = new BitSet(unitsPerSegment);
    freeUnits[number] = unitsPerSegment;
    freeUnitsOfAll += unitsPerSegment;
    tooLong[number] = unitsPerSegment + 1;
    slabs[number] = new Slab[unitsPerSegment];
    segments.set(number, region);
    count = number + 1;
    return true;
  }

  /** Throws {@link InternalError} if the calling thread has accessed unmapped memory. */
  public void verify() {
    segments.get(0).verify();
  }

  /** Whether the gate names this memory's incarnation. */
  boolean isServed() {
    return context.gate.getLongAcquire(context.gateOffset) == context.incarnation;
  }

  /** Checks for unmapped segments, and stops allocation in them. */
  synchronized void quarantine() {
    for (int s = 0; s < count; s++) {
      if (!lost.get(s) && isLost(segments.get(s))) {
        lost.set(s);
        freeUnitsOfAll -= freeUnits[s];
        freeUnits[s] = 0;
      }
    }
  }

  @GuardedBy("this")
  private boolean isLost(MemoryRegion region) {
    try {
      touched = MemoryFaults.touch(region);
      return false;
    } catch (InternalError e) {
      MemoryFaults.absorb(region, e);
      return true;
    }
  }

  /** Like {@link #allocate}, with zeroed bytes. */
  long allocateZeroed(int units) {
    final long address = allocate(units);
    if (address != NONE) {
      zero(address, units * UNIT_LENGTH);
    }
    return address;
  }

  /** Zeroes memory, a multiple of 8 bytes. */
  void zero(long address, int length) {
    final MemoryRegion region = region(address);
    final int offset = offset(address);
    for (int i = 0; i < length; i += ZEROS.length) {
      region.putBytes(offset + i, ZEROS, 0, Math.min(ZEROS.length, length - i));
    }
  }

  /** Frees a run. */
  synchronized void free(long address, int units) {
    final int segment = (int) (address >>> shift);
    final int unit = offset(address) / UNIT_LENGTH;
    used[segment].clear(unit, unit + units);
    usedUnits.addAndGet(-units);
    if (lost.get(segment)) {
      return;
    }
    freeUnits[segment] += units;
    freeUnitsOfAll += units;
    tooLong[segment] = unitsPerSegment + 1;
  }

  /** Allocates a run for blocks. */
  Slab allocateSlab(int units, int sizeClass) {
    final long address = allocate(units);
    if (address == NONE) {
      return null;
    }
    final Slab slab = new Slab(address, units, sizeClass);
    setSlab(slab, slab);
    return slab;
  }

  /** Frees the run of a slab. */
  void free(Slab slab) {
    setSlab(slab, null);
    free(slab.address, slab.units);
  }

  private void setSlab(Slab slab, Slab value) {
    final Slab[] ofSegment = slabs[(int) (slab.address >>> shift)];
    final int first = offset(slab.address) / UNIT_LENGTH;
    for (int i = 0; i < slab.units; i++) {
      ofSegment[first + i] = value;
    }
  }

  /** The slab of a block of the calling owner. */
  Slab slab(long address) {
    return slabs[(int) (address >>> shift)][offset(address) / UNIT_LENGTH];
  }

  /**
   * Allocates zeroed memory for the root of an index, which is only reused for roots; returns its
   * address, or {@link #NONE}.
   */
  synchronized long allocateRoot(int units) {
    final ArrayDeque<Long> free = roots.get(units);
    while (free != null && !free.isEmpty()) {
      final long address = free.removeLast();
      if (!lost.get((int) (address >>> shift))) {
        zero(address, units * UNIT_LENGTH);
        return address;
      }
    }
    return allocateZeroed(units);
  }

  /** Frees the memory of a root. */
  synchronized void freeRoot(long address, int units) {
    roots.computeIfAbsent(units, unused -> new ArrayDeque<>()).addLast(address);
  }
}
