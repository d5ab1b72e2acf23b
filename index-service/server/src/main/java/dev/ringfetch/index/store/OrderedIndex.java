package dev.ringfetch.index.store;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.OrderedLocation;
import dev.ringfetch.index.layout.OrderedReader;
import dev.ringfetch.index.layout.TreeDescriptor;

/**
 * An ordered index in index memory: one tree with one owner at a time, and lock-free readers.
 *
 * <p>Safe for use by many threads, except {@link #drop}.
 */
public final class OrderedIndex extends StoredIndex {
  private OrderedStore store;

  /**
   * Creates an empty index that is open to readers.
   *
   * @param memory for its entries
   * @throws StoreFullException if there is no memory for it
   * @throws StoreDamagedException if that memory is damaged
   */
  public OrderedIndex(StoreMemory memory) {
    super(memory);
    create(TreeDescriptor.LENGTH);
  }

  @Override
  boolean openPartitions(IndexRoot created) {
    store = new OrderedStore(memory, created);
    return store.open();
  }

  @Override
  void closePartitions() {
    if (store != null) {
      store.close();
    }
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

  /** The location of the index, for readers. */
  public OrderedLocation location() {
    return new OrderedLocation(memory.incarnation(), root().address(), root().incarnation());
  }

  @Override
  public OrderedReader newReader() {
    return new OrderedReader(memory.newReads(), location());
  }
}
