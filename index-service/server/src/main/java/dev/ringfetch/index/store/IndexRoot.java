package dev.ringfetch.index.store;

import dev.ringfetch.fabric.MemoryFaults;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.index.layout.HashLocation;
import dev.ringfetch.index.layout.RootDescriptor;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The root of an index in index memory: opens the index to readers and closes it, and refuses it
 * where its memory was damaged.
 *
 * <p>Safe for use by many threads.
 */
final class IndexRoot {
  private enum State {
    NEW,
    OPEN,
    /** Damage was found. The index stays so until it is dropped. */
    REFUSED,
    DROPPED
  }

  private final StoreMemory memory;
  private final HashLocation location;
  private final AtomicReference<State> state = new AtomicReference<>(State.NEW);

  IndexRoot(StoreMemory memory, HashLocation location) {
    this.memory = memory;
    this.location = location;
  }

  HashLocation location() {
    return location;
  }

  /** Opens the index to readers. */
  void open() {
    if (!state.compareAndSet(State.NEW, State.OPEN)) {
      throw new IllegalStateException("state=" + state.get() + " next=" + State.OPEN);
    }
    final MemoryRegion region = memory.region(location.root());
    final int offset = memory.offset(location.root());
    region.putLong(offset + RootDescriptor.SEED_OFFSET, location.seed());
    region.putLong(offset + RootDescriptor.PARTITIONS_OFFSET, location.partitions());
    region.putLongRelease(offset + RootDescriptor.OPEN_OFFSET, location.incarnation());
  }

  /** Closes the index to readers, before this returns. */
  void closeToReaders() {
    final MemoryRegion region = memory.region(location.root());
    try {
      region.putLongRelease(memory.offset(location.root()) + RootDescriptor.OPEN_OFFSET, 0);
      region.fullFence();
      region.verify();
    } catch (InternalError e) { // taken away: no reader finds it open
      MemoryFaults.absorb(region, e);
    }
  }

  /** Refuses the index, for its owners and its readers, unless it is dropped. */
  synchronized void refuse() {
    if (state.compareAndSet(State.OPEN, State.REFUSED)) {
      closeToReaders();
    }
  }

  boolean isRefused() {
    return state.get() == State.REFUSED;
  }

  /** Closes the index to readers for good, before its memory is given back. */
  synchronized void drop() {
    final State before = state.getAndSet(State.DROPPED);
    if (before == State.NEW || before == State.DROPPED) {
      throw new IllegalStateException("state=" + before + " next=" + State.DROPPED);
    }
    closeToReaders();
  }
}
