package dev.ringfetch.index.store;

import dev.ringfetch.fabric.MemoryFaults;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.index.layout.RootDescriptor;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The root of an index in index memory: opens the index to readers and closes it, and refuses it if
 * its memory was damaged.
 *
 * <p>Safe for use by many threads.
 */
final class IndexRoot {
  private enum State {
    NEW,
    OPEN,
    /** Damage was found. The index stays refused until it is dropped. */
    REFUSED,
    DROPPED
  }

  private final StoreMemory memory;
  private final long address;
  private final long incarnation;
  private final int units;
  private final AtomicReference<State> state = new AtomicReference<>(State.NEW);

  /**
   * Creates the root of a new index, which {@link #open} opens.
   *
   * @param address of zeroed memory for it, see {@link StoreMemory#allocateRoot}
   * @param incarnation of the index
   * @param units length of that memory
   */
  IndexRoot(StoreMemory memory, long address, long incarnation, int units) {
    this.memory = memory;
    this.address = address;
    this.incarnation = incarnation;
    this.units = units;
  }

  long address() {
    return address;
  }

  long incarnation() {
    return incarnation;
  }

  /** Stores a word that no reader can reach before the index is open. */
  void put(int offset, long value) {
    memory.region(address).putLong(memory.offset(address) + offset, value);
  }

  /** Opens the index to readers. */
  void open() {
    if (!state.compareAndSet(State.NEW, State.OPEN)) {
      throw new IllegalStateException("state=" + state.get() + " next=" + State.OPEN);
    }
    memory
        .region(address)
        .putLongRelease(memory.offset(address) + RootDescriptor.OPEN_OFFSET, incarnation);
  }

  /** Frees the memory of the root, which was dropped or never opened. */
  void free() {
    memory.freeRoot(address, units);
  }

  /** Closes the index to readers, before this returns. */
  void closeToReaders() {
    final MemoryRegion region = memory.region(address);
    try {
      region.putLongRelease(memory.offset(address) + RootDescriptor.OPEN_OFFSET, 0);
      region.fullFence();
      region.verify();
    } catch (InternalError e) { // unmapped: no reader finds it open
      MemoryFaults.absorb(region, e);
    }
  }

  /** Refuses the index, for its owners and its readers, unless it is dropped. */
  synchronized void refuse() {
    if (state.compareAndSet(State.OPEN, State.REFUSED)) {
      closeToReaders();
    }
  }

  /** Refuses the index for damage that an owner has found, and checks for unmapped memory. */
  void refuse(Throwable damage) {
    refuse();
    if (damage instanceof InternalError) {
      memory.quarantine();
    }
  }

  boolean isRefused() {
    return state.get() == State.REFUSED;
  }

  /** Closes the index to readers for good, before its memory is freed. */
  synchronized void drop() {
    final State before = state.getAndSet(State.DROPPED);
    if (before == State.NEW || before == State.DROPPED) {
      throw new IllegalStateException("state=" + before + " next=" + State.DROPPED);
    }
    closeToReaders();
  }
}
