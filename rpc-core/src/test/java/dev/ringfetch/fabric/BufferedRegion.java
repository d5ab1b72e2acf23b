package dev.ringfetch.fabric;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * One side's view of memory, behind a store buffer: what this side stores, it sees at once, and the
 * other side when the test drains it. A fence drains all.
 *
 * <p>In order, the buffer is that of x86. Out of order, any store may overtake another, but a
 * release store comes after every earlier one, and stores to the same bytes come in their order.
 * Loads are never late: what hides behind a load that is reordered is not found here.
 */
public final class BufferedRegion implements MemoryRegion {
  private static final int CAPACITY = 56; // of stores, about as many as a core has
  private static final int LINE = 64; // of a copy, what becomes visible at once at the most

  private final DirectRegion memory;
  private final RandomGenerator order; // null: in order
  private final List<Store> stores; // of all memory that this side reaches
  private final byte[] word = new byte[Long.BYTES];

  private static final class Store {
    final DirectRegion memory;
    final int index;
    final byte[] bytes;
    final boolean release;

    Store(DirectRegion memory, int index, byte[] bytes, boolean release) {
      this.memory = memory;
      this.index = index;
      this.bytes = bytes;
      this.release = release;
    }

    boolean overlaps(Store other) {
      return memory == other.memory
          && index < other.index + other.bytes.length
          && other.index < index + bytes.length;
    }
  }

  /**
   * Creates the view of a side.
   *
   * @param order draws which store comes next, or is null for the order of the program.
   */
  public BufferedRegion(DirectRegion memory, RandomGenerator order) {
    this(memory, order, new ArrayList<>());
  }

  private BufferedRegion(DirectRegion memory, RandomGenerator order, List<Store> stores) {
    this.memory = memory;
    this.order = order;
    this.stores = stores;
  }

  /** The same side's view of other memory: behind the same store buffer. */
  public BufferedRegion beside(DirectRegion other) {
    return new BufferedRegion(other, order, stores);
  }

  /** Makes one store visible, if there is one. */
  public void drainOne() {
    if (!stores.isEmpty()) {
      final Store store = stores.remove(next());
      store.memory.putBytes(store.index, store.bytes, 0, store.bytes.length);
    }
  }

  /** Makes every store visible. */
  public void drain() {
    while (!stores.isEmpty()) {
      drainOne();
    }
  }

  /** True when every store is visible. */
  public boolean isDrained() {
    return stores.isEmpty();
  }

  /** Loses every store that is not visible. */
  public void drop() {
    stores.clear();
  }

  private int next() {
    if (order == null) {
      return 0;
    }
    final int drawn = order.nextInt(stores.size());
    return mayOvertake(drawn) ? drawn : 0;
  }

  private boolean mayOvertake(int drawn) {
    final Store store = stores.get(drawn);
    for (int i = 0; i < drawn; i++) {
      if (store.release || store.overlaps(stores.get(i))) {
        return false;
      }
    }
    return true;
  }

  private void store(int index, byte[] bytes, boolean release) {
    if (stores.size() == CAPACITY) {
      drainOne();
    }
    stores.add(new Store(memory, index, bytes, release));
  }

  private void store(int index, long value, int length, boolean release) {
    final byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[i] = (byte) (value >>> (i * Byte.SIZE));
    }
    store(index, bytes, release);
  }

  private long load(int index, int length) {
    getBytes(index, word, 0, length);
    long value = 0;
    for (int i = 0; i < length; i++) {
      value |= (word[i] & 0xFFL) << (i * Byte.SIZE);
    }
    return value;
  }

  @Override
  public int length() {
    return memory.length();
  }

  @Override
  public long getLong(int index) {
    return load(index, Long.BYTES);
  }

  @Override
  public void putLong(int index, long value) {
    store(index, value, Long.BYTES, false);
  }

  @Override
  public int getInt(int index) {
    return (int) load(index, Integer.BYTES);
  }

  @Override
  public void putInt(int index, int value) {
    store(index, value, Integer.BYTES, false);
  }

  @Override
  public long getLongAcquire(int index) {
    return load(index, Long.BYTES);
  }

  @Override
  public void putLongRelease(int index, long value) {
    store(index, value, Long.BYTES, true);
  }

  @Override
  public int getIntAcquire(int index) {
    return (int) load(index, Integer.BYTES);
  }

  @Override
  public void putIntRelease(int index, int value) {
    store(index, value, Integer.BYTES, true);
  }

  @Override
  public void getBytes(int index, byte[] destination, int offset, int length) {
    memory.getBytes(index, destination, offset, length);
    for (final Store store : stores) {
      final int first = Math.max(index, store.index);
      final int end = Math.min(index + length, store.index + store.bytes.length);
      if (store.memory == memory && first < end) {
        System.arraycopy(
            store.bytes, first - store.index, destination, offset + first - index, end - first);
      }
    }
  }

  @Override
  public void putBytes(int index, byte[] source, int offset, int length) {
    for (int done = 0; done < length; done += LINE) { // seen in parts
      store(
          index + done,
          Arrays.copyOfRange(source, offset + done, offset + Math.min(length, done + LINE)),
          false);
    }
  }

  @Override
  public void fullFence() {
    drain();
  }

  @Override
  public void verify() {} // nobody can take it away
}
