package dev.ringfetch.session.bulk;

import static dev.ringfetch.session.bulk.BulkRegion.PAGE_LENGTH;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ringfetch.counters.Counter;
import dev.ringfetch.fabric.MemoryFaults;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.fabric.RegisteredMemory;
import dev.ringfetch.session.owner.OwnedBy;
import java.io.IOException;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The pool of one side's registered memory, out of which the peer reads messages that are too long
 * for a ring: the sender marshals into it, a frame names it, the receiver copies it out and says so
 * in its control line. Memory is registered on the first request, and offered to the peer; until
 * the peer has attached it, and whenever there is none, messages go as chains of frames: no thread
 * waits.
 *
 * <p>Any thread may call the methods, except for those of the owner.
 */
public final class BulkPool {
  /** Length of one registration, in bytes. */
  public static final int REGION_LENGTH = 4 * 1024 * 1024;

  private static final System.Logger LOGGER = System.getLogger(BulkPool.class.getName());
  private static final long RETRY_NS = TimeUnit.SECONDS.toNanos(1);

  private final BulkOwner owner;
  private final QueuePair queuePair;
  private final int threshold;
  private final int segmentLength;
  private final int regionLength;
  private final int maxLength;
  private final MemoryQuota quota;
  private final boolean poisoned = Boolean.getBoolean(Poison.PROPERTY);

  @GuardedBy("this")
  private final List<BulkRegion> regions = new ArrayList<>(); // attached

  @GuardedBy("this")
  private final Set<Segments> lent = new HashSet<>(); // to units

  private final ReferenceQueue<Object> dropped = new ReferenceQueue<>();
  private final Leases leases; // to the application

  @GuardedBy("this")
  private BulkRegion offered; // the peer has not answered

  @GuardedBy("this")
  private boolean registering;

  @GuardedBy("this")
  private boolean exhausted; // no more memory can be registered

  @GuardedBy("this")
  private boolean closed;

  @GuardedBy("this")
  private long registeredLength;

  @GuardedBy("this")
  private long retryNs;

  @GuardedBy("this")
  private int droppedUnits;

  private volatile boolean offerDue;

  @SuppressWarnings("unused") // keeps the loads of a probe alive
  private volatile long touched;

  /** Creates a pool without memory. */
  public BulkPool(BulkOwner owner, BulkPath path, BulkContext context) {
    this.owner = owner;
    this.queuePair = path.queuePair();
    this.leases = new Leases(owner);
    this.threshold = context.bulkThreshold();
    this.segmentLength = context.bulkSegmentLength();
    this.maxLength = Math.min(context.bulkLength(), MemoryExchange.MAX_ATTACHED_LENGTH);
    this.quota = context.bulkQuota();
    this.regionLength = Math.min(REGION_LENGTH, maxLength) / PAGE_LENGTH * PAGE_LENGTH;
    this.retryNs = owner.nanoTime();
    this.exhausted = !path.isOpen(); // the peer could not reach it
  }

  /** Messages that are longer than this, in bytes, are worth a segment. */
  public int threshold() {
    return threshold;
  }

  /** Length of the runs in which a message is put, in bytes. */
  public int segmentLength() {
    return segmentLength;
  }

  /**
   * Takes memory out of the pool, and lets the pool grow if there is too little.
   *
   * @param length in bytes.
   * @return memory of this length, or null when there is none now.
   */
  public @Nullable Segment allocate(int length) {
    leases.report();
    Segment segment = tryAllocate(length);
    if (segment == null && usedLength() > 0) {
      owner.requestRound(); // in which it takes back what the peer has read
      segment = tryAllocate(length);
    }
    return segment;
  }

  private Segment tryAllocate(int length) {
    final long grown;
    synchronized (this) {
      if (closed || length <= 0) {
        return null;
      }
      takeBackDropped();
      final int pages = BulkRegion.pages(length);
      for (final BulkRegion region : regions) {
        final int offset = region.take(pages);
        if (offset >= 0) {
          checkPoison(region, offset, pages * PAGE_LENGTH);
          return new Segment(this, region, offset, length);
        }
      }
      grown = Math.max(regionLength, (long) pages * PAGE_LENGTH);
      if (!mayGrow(grown)) {
        return null;
      }
      if (!quota.reserve(grown)) {
        countRefusal();
        retryNs = owner.nanoTime() + RETRY_NS;
        return null;
      }
      registering = true;
    }
    grow((int) grown);
    return null;
  }

  /** Of regions as long as {@link #REGION_LENGTH} there are no more than a peer listens to. */
  @GuardedBy("this")
  private boolean mayGrow(long length) {
    return !registering
        && offered == null
        && !exhausted
        && registeredLength + length <= maxLength
        && owner.nanoTime() - retryNs >= 0;
  }

  private void grow(int length) {
    // An interrupted thread would have its file closed instead of its memory registered.
    final boolean interrupted = Thread.interrupted();
    RegisteredMemory memory = null;
    try {
      memory = queuePair.register(length);
    } catch (IOException e) {
      LOGGER.log(System.Logger.Level.DEBUG, "no memory for long messages", e);
      countRefusal();
    } finally {
      offer(memory, length);
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Counts that there was no memory, also at the owner of the session: here, one at a time. */
  synchronized void countRefusal() {
    owner.tally().add(Counter.SESSION_BULK_REFUSED, 1);
  }

  private void offer(RegisteredMemory memory, int length) {
    synchronized (this) {
      registering = false;
      if (memory == null || closed) {
        retryNs = owner.nanoTime() + RETRY_NS;
        quota.release(length);
        if (memory != null) {
          memory.settled();
        }
        return;
      }
      registeredLength += length;
      owner.tally().set(Counter.SESSION_BULK_REGISTERED, registeredLength);
      poison(memory.region(), 0, length);
      offered = new BulkRegion(memory, regions.size());
      offerDue = true;
    }
    owner.requestRound();
  }

  /**
   * The descriptor of memory to be offered to the peer now, or null.
   *
   * @param maxLength what a frame holds: where it does not fit, no memory is offered.
   */
  @OwnedBy("session")
  byte[] takeOffer(int maxLength) {
    if (!offerDue) {
      return null;
    }
    offerDue = false;
    synchronized (this) {
      final byte[] descriptor = offered.memory().descriptor();
      if (descriptor.length <= maxLength) {
        return descriptor;
      }
      offered.memory().settled();
      offered = null;
      exhausted = true;
      return null;
    }
  }

  /**
   * Called when the peer has answered the offer.
   *
   * @return false when there was none.
   */
  @OwnedBy("session")
  synchronized boolean onAnswer(boolean attached) {
    if (offered == null || offerDue) {
      return false;
    }
    offered.memory().settled();
    if (attached) {
      regions.add(offered);
    } else {
      exhausted = true; // it would say the same of the next
    }
    offered = null;
    return true;
  }

  /** True of a segment of this pool. */
  public boolean owns(Segment segment) {
    return segment.pool() == this;
  }

  synchronized void free(Segment segment) {
    final int pages = BulkRegion.pages(segment.length());
    poison(segment.region().memory().region(), segment.offset(), pages * PAGE_LENGTH);
    segment.region().give(segment.offset(), pages);
  }

  /** Poisons memory; not once the session ends, as this side must not use the memory then. */
  @GuardedBy("this")
  private void poison(MemoryRegion memory, int offset, int length) {
    if (poisoned && !closed) {
      try {
        Poison.fill(memory, offset, length);
        verify();
      } catch (InternalError e) {
        if (!endIfGone(e)) {
          throw e;
        }
      }
    }
  }

  private void checkPoison(BulkRegion region, int offset, int length) {
    final int changed = poisoned ? poisonChanged(region.memory().region(), offset, length) : -1;
    if (changed >= 0) {
      LOGGER.log(
          System.Logger.Level.WARNING,
          "registered memory was written to after it was given back: offset="
              + changed
              + " region="
              + region.number()
              + "; the writer has kept the view of a RegisteredBuffer that it has closed");
    }
  }

  private int poisonChanged(MemoryRegion memory, int offset, int length) {
    try {
      final int changed = Poison.changed(memory, offset, length);
      verify();
      return changed;
    } catch (InternalError e) {
      if (!endIfGone(e)) {
        throw e;
      }
      return -1;
    }
  }

  /** The memory of this pool that the application has. */
  Leases leases() {
    return leases;
  }

  /** Creates the list of a unit's memory from this pool. */
  synchronized Segments lend(Object unit) {
    final Segments segments = new Segments(this, unit, dropped);
    lent.add(segments);
    return segments;
  }

  synchronized void returned(Segments segments) {
    lent.remove(segments);
  }

  /** Takes back the memory of units that were collected without being cleared. */
  @GuardedBy("this")
  private void takeBackDropped() {
    Reference<?> reference;
    while ((reference = dropped.poll()) != null) {
      droppedUnits++;
      ((Segments) reference).release();
    }
  }

  /**
   * Number of units that were dropped with memory of this pool, which was taken back after the
   * garbage collection.
   */
  public synchronized int droppedUnits() {
    takeBackDropped();
    return droppedUnits;
  }

  /** Memory that is in use, in bytes. */
  public synchronized long usedLength() {
    takeBackDropped();
    long pages = 0;
    for (final BulkRegion region : regions) {
      pages += region.usedPages();
    }
    return pages * PAGE_LENGTH;
  }

  /**
   * Called by a thread that has filled memory of this pool, before it does anything else: if the
   * peer has taken the memory away, the late fault is thrown here.
   */
  public void verify() {
    queuePair.memory().verify();
  }

  /**
   * Handles a fault of a thread that filled memory of this pool: ends the session if the memory is
   * gone. Any thread.
   *
   * @return false when the fault was of something else.
   */
  public boolean endIfGone(InternalError fault) {
    MemoryFaults.absorb(queuePair.memory(), fault);
    if (owner.hasEnded()) {
      return true; // nothing of the pool is used any more
    }
    try {
      touched = touch();
      return false;
    } catch (InternalError again) {
      MemoryFaults.absorb(queuePair.memory(), again);
      owner.blameLater("the peer took registered memory away");
      return true;
    }
  }

  /** Loads from every page, and throws an {@code InternalError} if one is gone. */
  public long touch() {
    final List<BulkRegion> attached;
    synchronized (this) {
      attached = List.copyOf(regions);
    }
    long sum = 0;
    for (final BulkRegion region : attached) {
      sum += MemoryFaults.touch(region.memory().region());
    }
    return sum;
  }

  /** Gives out no more memory, because the session ends. */
  @OwnedBy("session")
  public synchronized void refuse() {
    closed = true;
    leases.end();
  }

  /**
   * Closes the pool when the session does not use its memory any more; memory that the application
   * has is left to the garbage collector.
   */
  @OwnedBy("session")
  public synchronized void close() {
    quota.release(registeredLength);
    registeredLength = 0;
    owner.tally().set(Counter.SESSION_BULK_REGISTERED, 0);
    if (offered != null) {
      offered.memory().settled();
    }
    for (final BulkRegion region : regions) {
      if (region.usedPages() > 0) {
        region.memory().keep();
      }
    }
  }
}
