package dev.ringfetch.index.store;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.MemoryFaults;
import dev.ringfetch.index.layout.KeyReader;

/**
 * The base of indexes in index memory: partitions, each with one owner at a time, and lock-free
 * readers.
 *
 * <p>Safe for use by many threads, except {@link #drop}.
 */
public abstract class StoredIndex {
  final StoreMemory memory;
  private IndexRoot root;

  StoredIndex(StoreMemory memory) {
    this.memory = memory;
  }

  /**
   * Creates the root and the partitions, and opens the index to readers. Called once, at the end of
   * the constructor.
   *
   * @param rootLength length of the root in bytes
   * @throws StoreFullException if there is no memory for it
   * @throws StoreDamagedException if that memory is damaged
   */
  final void create(int rootLength) {
    try {
      open(StoreMemory.units(rootLength));
      memory.verify();
    } catch (InternalError e) {
      MemoryFaults.absorb(memory::verify, e);
      memory.quarantine();
      throw new StoreDamagedException("index memory was taken away", e);
    }
  }

  private void open(int units) {
    final long address = memory.allocateRoot(units);
    if (address == StoreMemory.NONE) {
      throw full();
    }
    root = new IndexRoot(memory, address, memory.nextIndex(), units);
    boolean opened = false;
    try {
      if (!openPartitions(root)) {
        throw full();
      }
      root.open();
      opened = true;
    } finally {
      if (!opened) {
        closePartitions();
        root.free();
      }
    }
  }

  private StoreFullException full() {
    return new StoreFullException("index memory is used up: budget=" + memory.budget());
  }

  /**
   * Creates the partitions of a new index, and the words of its root except for the open word;
   * returns false if there is no memory.
   */
  abstract boolean openPartitions(IndexRoot created);

  /** Frees the memory of all partitions that exist. */
  abstract void closePartitions();

  final IndexRoot root() {
    return root;
  }

  /** Number of partitions. */
  public abstract int partitions();

  /** A partition. */
  public abstract EntryStore partition(int number);

  /**
   * Prepares room for this total of entries, as far as memory allows, so that puts need not grow
   * tables. Called before the first put.
   */
  public void expect(long entries) {}

  /**
   * Completes the index after the puts of a recovery or a copy, before its first reader.
   * Idempotent.
   *
   * @throws StoreFullException if there is no memory for what readers need besides
   */
  public void complete() {}

  /** Number of the partition that a key belongs to. Safe for use by many threads. */
  public abstract int partitionOf(ByteString key);

  /** Creates a reader for one thread at a time. */
  public abstract KeyReader newReader();

  /** Number of this index, unique in this memory. */
  public final long number() {
    return root.incarnation();
  }

  /** Number of entries; not exact while owners write. */
  public final long count() {
    long count = 0;
    for (int i = 0; i < partitions(); i++) {
      count += partition(i).count();
    }
    return count;
  }

  /** Closes the index to readers, before this returns. Safe for use by many threads. */
  public final void closeToReaders() {
    root.closeToReaders();
  }

  /**
   * Refuses the index, whose memory was found damaged: its writers end, and readers find it closed.
   * The caller drops it. Safe for use by many threads.
   */
  public final void refuse() {
    root.refuse();
  }

  /** Whether the index was refused. Safe for use by many threads. */
  public final boolean isRefused() {
    return root.isRefused();
  }

  /** Whether the gate permits reads of this memory. Safe for use by many threads. */
  public final boolean isServed() {
    return memory.isServed();
  }

  /**
   * Closes the index to readers and frees its memory. No partition may be in use any more, and all
   * stores of owners must have happened before.
   */
  public final void drop() {
    root.drop();
    closePartitions();
    root.free();
  }
}
