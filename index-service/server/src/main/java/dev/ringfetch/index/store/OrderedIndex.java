package dev.ringfetch.index.store;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.MemoryFaults;
import dev.ringfetch.index.layout.OrderedLocation;
import dev.ringfetch.index.layout.OrderedReader;
import dev.ringfetch.index.layout.TreeDescriptor;

/**
 * An ordered index in index memory: one tree with one owner at a time, and lock-free readers.
 *
 * <p>Safe for use by many threads, except {@link #drop}.
 */
public final class OrderedIndex extends StoredIndex {
  private final IndexRoot root;
  private OrderedStore store;

  /**
   * Creates an empty index that is open to readers.
   *
   * @param memory where it lives
   * @throws StoreFullException if there is no memory for it
   * @throws StoreDamagedException if that memory is damaged
   */
  public OrderedIndex(StoreMemory memory) {
    super(memory);
    try {
      root = create();
      memory.verify();
    } catch (InternalError e) {
      MemoryFaults.absorb(memory::verify, e);
      memory.quarantine();
      throw new StoreDamagedException("index memory was taken away", e);
    }
  }

  private IndexRoot create() {
    final int units = StoreMemory.units(TreeDescriptor.LENGTH);
    final long address = memory.allocateRoot(units);
    if (address == StoreMemory.NONE) {
      throw full();
    }
    final IndexRoot created = new IndexRoot(memory, address, memory.nextIndex(), units);
    store = new OrderedStore(memory, created);
    boolean opened = false;
    try {
      if (!store.open()) {
        throw full();
      }
      created.open();
      opened = true;
    } finally {
      if (!opened) {
        store.close();
        created.free();
      }
    }
    return created;
  }

  @Override
  void closePartitions() {
    store.close();
  }

  @Override
  IndexRoot root() {
    return root;
  }

  @Override
  public int partitions() {
    return 1;
  }

  @Override
  public OrderedStore partition(int number) {
    return store;
  }

  @Override
  public int partitionOf(ByteString key) {
    return 0;
  }

  /** What readers need to know. */
  public OrderedLocation location() {
    return new OrderedLocation(memory.incarnation(), root.address(), root.incarnation());
  }

  @Override
  public OrderedReader newReader() {
    return new OrderedReader(memory.newReads(), location());
  }
}
