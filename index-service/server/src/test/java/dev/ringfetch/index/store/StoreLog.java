package dev.ringfetch.index.store;

import dev.ringfetch.fabric.MemoryRegion;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * The stores of a simulated owner, on their way to the memory that readers see. The owner works on
 * memory of its own; each of its stores is appended here, a word at a time, and applied later, at
 * the choice of a random sequence: in order, or plain stores before earlier ones, which hardware
 * and compiler may do as long as no release stands behind a store in program order and before it
 * here.
 */
final class StoreLog {
  private static final int WINDOW = 24;

  private final Random random;
  private final List<Store> pending = new ArrayList<>();
  private int first;
  private boolean frozen;

  /** Number of stores that were appended, and below which number all are applied. */
  private long appended;

  private final Runnable more;

  /** How seldom stores arrive. */
  private final int pace;

  private record Store(Region region, int index, int length, long value, boolean release) {
    void apply() {
      switch (length) {
        case 8 -> region.seen.putLong(index, value);
        case 0 -> {}
        case 4 -> region.seen.putInt(index, (int) value);
        default -> region.seen.putBytes(index, new byte[] {(byte) value}, 0, 1);
      }
    }

    boolean isFence() {
      return length == 0;
    }

    boolean overlaps(Store other) {
      return region == other.region
          && index < other.index + other.length
          && other.index < index + length;
    }
  }

  /**
   * Creates an empty log.
   *
   * @param more lets the owner do something, which appends stores, most times
   */
  StoreLog(Random random, Runnable more) {
    this.random = random;
    this.more = more;
    pace = 1 << random.nextInt(4);
  }

  long appended() {
    return appended;
  }

  /** Every store with a number below this one is applied. */
  long applied() {
    return appended - (pending.size() - first);
  }

  /** Lets no more stores arrive, or lets them arrive again. */
  void freeze(boolean freeze) {
    frozen = freeze;
  }

  /** Applies some stores: none often, many sometimes. Likes to stop before those with an order. */
  void advance() {
    if (frozen) {
      return;
    }
    final int dice = random.nextInt(16 * pace);
    int count = dice > 8 ? 0 : dice > 2 ? random.nextInt(4) : random.nextInt(60);
    while (count-- > 0) {
      if (first == pending.size()) {
        pending.clear();
        first = 0;
        more.run();
        if (pending.isEmpty()) {
          return;
        }
      }
      if (random.nextInt(4) == 0) {
        applyEarly();
      }
      pending.get(first++).apply();
      if (first < pending.size() && pending.get(first).release() && random.nextInt(4) == 0) {
        return;
      }
    }
  }

  /** Applies a plain store before its turn. It is applied once more then, which changes nothing. */
  private void applyEarly() {
    final int at = first + random.nextInt(Math.min(WINDOW, pending.size() - first));
    final Store store = pending.get(at);
    if (store.release()) {
      return;
    }
    for (int i = first; i < at; i++) {
      if (pending.get(i).isFence() || pending.get(i).overlaps(store)) {
        return;
      }
    }
    store.apply();
  }

  /** Applies the oldest store; false if there is none. */
  boolean step() {
    if (first == pending.size()) {
      return false;
    }
    pending.get(first++).apply();
    return true;
  }

  /**
   * Applies stores up to the next one with an order, which is the last of them; false if none is
   * left.
   */
  boolean stepToOrder() {
    boolean more = step();
    while (more && (!pending.get(first - 1).release() || pending.get(first - 1).isFence())) {
      more = step();
    }
    return more;
  }

  /** Notes that stores are to be applied again from the next one on: the caller has undone them. */
  void rewind(int to) {
    first = to;
  }

  /** The number of the next store, for {@link #rewind}, until the owner stores more. */
  int position() {
    return first;
  }

  /** Applies all stores. */
  void flush() {
    while (first < pending.size()) {
      pending.get(first++).apply();
    }
  }

  private void append(Region region, int index, int length, long value, boolean release) {
    pending.add(new Store(region, index, length, value, release));
    appended++;
  }

  /** A segment: the owner's view of it, with {@link #shown} as that of readers. */
  final class Region implements MemoryRegion {
    private final SimulatedMemory own;
    private final SimulatedMemory seen;

    Region(int length) {
      own = new SimulatedMemory(length, () -> {});
      seen = new SimulatedMemory(length, StoreLog.this::advance);
    }

    /** The memory as readers see it; each load lets stores arrive. */
    SimulatedMemory shown() {
      return seen;
    }

    @Override
    public int length() {
      return own.length();
    }

    @Override
    public long getLong(int index) {
      return own.getLong(index);
    }

    @Override
    public void putLong(int index, long value) {
      own.putLong(index, value);
      append(this, index, 8, value, false);
    }

    @Override
    public int getInt(int index) {
      return own.getInt(index);
    }

    @Override
    public void putInt(int index, int value) {
      own.putInt(index, value);
      append(this, index, 4, value, false);
    }

    @Override
    public long getLongAcquire(int index) {
      return own.getLong(index);
    }

    @Override
    public void putLongRelease(int index, long value) {
      own.putLong(index, value);
      append(this, index, 8, value, true);
    }

    @Override
    public int getIntAcquire(int index) {
      return own.getInt(index);
    }

    @Override
    public void putIntRelease(int index, int value) {
      own.putInt(index, value);
      append(this, index, 4, value, true);
    }

    @Override
    public void getBytes(int index, byte[] destination, int offset, int length) {
      own.getBytes(index, destination, offset, length);
    }

    @Override
    public void putBytes(int index, byte[] source, int offset, int length) {
      own.putBytes(index, source, offset, length);
      int at = 0;
      while (at < length) {
        final int step = length - at >= 4 && ((index + at) & 3) == 0 ? 4 : 1;
        append(
            this,
            index + at,
            step,
            step == 4 ? own.getInt(index + at) : source[offset + at],
            false);
        at += step;
      }
    }

    @Override
    public void fullFence() {
      append(this, 0, 0, 0, true);
    }

    @Override
    public void verify() {}
  }

  /** Plain memory of a simulation; runs something before each load. */
  static final class SimulatedMemory implements MemoryRegion {
    private final ByteBuffer bytes;
    private final Runnable beforeLoad;

    SimulatedMemory(int length, Runnable beforeLoad) {
      bytes = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
      this.beforeLoad = beforeLoad;
    }

    @Override
    public int length() {
      return bytes.capacity();
    }

    byte[] copy() {
      return bytes.array().clone();
    }

    private static int aligned(int index, int to) {
      if ((index & (to - 1)) != 0) {
        throw new IllegalArgumentException("not aligned: index=" + index);
      }
      return index;
    }

    @Override
    public long getLong(int index) {
      beforeLoad.run();
      return bytes.getLong(aligned(index, 8));
    }

    @Override
    public void putLong(int index, long value) {
      bytes.putLong(aligned(index, 8), value);
    }

    @Override
    public int getInt(int index) {
      beforeLoad.run();
      return bytes.getInt(aligned(index, 4));
    }

    @Override
    public void putInt(int index, int value) {
      bytes.putInt(aligned(index, 4), value);
    }

    @Override
    public long getLongAcquire(int index) {
      return getLong(index);
    }

    @Override
    public void putLongRelease(int index, long value) {
      putLong(index, value);
    }

    @Override
    public int getIntAcquire(int index) {
      return getInt(index);
    }

    @Override
    public void putIntRelease(int index, int value) {
      putInt(index, value);
    }

    @Override
    public void getBytes(int index, byte[] destination, int offset, int length) {
      for (int i = 0; i < length; i++) {
        if ((i & 7) == 0) {
          beforeLoad.run();
        }
        destination[offset + i] = bytes.get(index + i);
      }
    }

    @Override
    public void putBytes(int index, byte[] source, int offset, int length) {
      bytes.put(index, source, offset, length);
    }

    @Override
    public void fullFence() {}

    @Override
    public void verify() {}
  }
}
