package dev.ringfetch.index.partition;

import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.index.layout.SegmentReads;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Index memory whose stores are recorded, a word at a time and in their order, and a search through
 * all ways in which the loads of a reader can fall between them. An owner never looks at its
 * readers: so its stores are the same in every run, and a reader runs again and again, with another
 * choice of moments each time.
 *
 * <p>A moment is the number of stores that have arrived. A load sees the word of the present moment
 * or of a later one, where that differs; of all moments with one value the first is taken, which is
 * the strictest for the answer. So a run stands for all that see the same values. Stores are seen
 * in program order, as Lincheck's model checker has them too; {@code SimulatedOwnerTest} reorders
 * them.
 *
 * <p>Used by one thread.
 */
final class RecordedMemory implements SegmentReads.Segments {
  static final int SEGMENT_SHIFT = 16;

  private final List<Region> regions = new ArrayList<>();
  private final Region gate = new Region(-1, Long.BYTES);
  private final List<Long> record = new ArrayList<>();
  private final int depth;
  private boolean recording;
  private int stores;

  // The search: choices of the present run, and how many there were of each.
  private final int[] chosen;
  private final int[] options;
  private int known;
  private int taken;
  private boolean frozen;
  private int moment;
  private int latestBegin;

  /**
   * Creates memory.
   *
   * @param depth choices of a run; at later loads all stores have arrived.
   */
  RecordedMemory(int depth) {
    this.depth = depth;
    chosen = new int[depth];
    options = new int[depth];
  }

  Region grow(int length) {
    final Region region = new Region(regions.size(), length);
    regions.add(region);
    return region;
  }

  /** Memory for the gate's word. */
  Region gate() {
    return gate;
  }

  /** The same as readers see it. */
  MemoryRegion shownGate() {
    return gate.shown;
  }

  /** The memory as readers see it. */
  @Override
  public MemoryRegion segment(long number) {
    return number >= 0 && number < regions.size() ? regions.get((int) number).shown : null;
  }

  /** Begins to record: what was stored before is there from the first moment on. */
  void startRecording() {
    recording = true;
  }

  /** The number of stores so far. */
  int stores() {
    return stores;
  }

  /** The recorded stores, to compare. */
  List<Long> record() {
    return record;
  }

  /** Begins the search. */
  void startSearch() {
    recording = false;
    known = 0;
    startRun();
  }

  /** Begins the next run; false if there is none. */
  boolean next() {
    known = taken;
    while (known > 0 && chosen[known - 1] == options[known - 1] - 1) {
      known--;
    }
    if (known == 0) {
      return false;
    }
    chosen[known - 1]++;
    startRun();
    return true;
  }

  private void startRun() {
    taken = 0;
    moment = 0;
    startRead();
  }

  /** Begins a read: {@link #latestBegin} and {@link #moment} say when it can have been. */
  void startRead() {
    latestBegin = Integer.MAX_VALUE;
  }

  /** Lets no more stores arrive in this run, or lets them arrive again. */
  void freeze(boolean freeze) {
    frozen = freeze;
  }

  /** The last moment at which the read can have begun. */
  int latestBegin() {
    return Math.min(latestBegin, stores);
  }

  /** The first moment at which the read can have ended. */
  int moment() {
    return moment;
  }

  private int choose(int count) {
    if (taken == depth) {
      return count - 1;
    }
    if (taken == known) {
      chosen[known] = 0;
      known++;
    }
    options[taken] = count;
    return chosen[taken++];
  }

  private long load(Region region, int word) {
    final Changes changes = region.changes[word];
    if (changes == null) {
      return region.bytes.getLong(word * Long.BYTES);
    }
    int number = changes.at(moment);
    if (!frozen && number < changes.count - 1) {
      number += choose(changes.count - number);
    }
    moment = Math.max(moment, changes.moments[number]);
    if (number < changes.count - 1) {
      latestBegin = Math.min(latestBegin, changes.moments[number + 1] - 1);
    }
    return changes.values[number];
  }

  /** The values of a word, each with the moment from which on it is there. */
  private static final class Changes {
    private int[] moments = new int[4];
    private long[] values = new long[4];
    private int count;

    void add(int moment, long value) {
      if (count == moments.length) {
        moments = Arrays.copyOf(moments, 2 * count);
        values = Arrays.copyOf(values, 2 * count);
      }
      moments[count] = moment;
      values[count++] = value;
    }

    int at(int moment) {
      int number = count - 1;
      while (moments[number] > moment) {
        number--;
      }
      return number;
    }
  }

  /** A segment as its owner sees it: as of the last store. */
  final class Region implements MemoryRegion {
    private final int number;
    private final ByteBuffer bytes;
    private final Changes[] changes;
    private final Shown shown = new Shown(this);

    Region(int number, int length) {
      this.number = number;
      bytes = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
      changes = new Changes[length / Long.BYTES];
    }

    private void store(int word, long value) {
      final long before = bytes.getLong(word * Long.BYTES);
      bytes.putLong(word * Long.BYTES, value);
      if (!recording || before == value) {
        return;
      }
      stores++;
      record.add(((long) number << SEGMENT_SHIFT) + word);
      record.add(value);
      if (changes[word] == null) {
        changes[word] = new Changes();
        changes[word].add(0, before);
      }
      changes[word].add(stores, value);
    }

    @Override
    public int length() {
      return bytes.capacity();
    }

    @Override
    public long getLong(int index) {
      return bytes.getLong(index);
    }

    @Override
    public void putLong(int index, long value) {
      store(index / Long.BYTES, value);
    }

    @Override
    public int getInt(int index) {
      return bytes.getInt(index);
    }

    @Override
    public void putInt(int index, int value) {
      final int shift = (index & Integer.BYTES) * Byte.SIZE;
      final long word = bytes.getLong(index & -Long.BYTES);
      store(
          index / Long.BYTES,
          (word & ~(0xFFFF_FFFFL << shift)) | ((value & 0xFFFF_FFFFL) << shift));
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
      bytes.get(index, destination, offset, length);
    }

    @Override
    public void putBytes(int index, byte[] source, int offset, int length) {
      int at = 0;
      while (at < length) {
        final int step = Math.min(length - at, Long.BYTES - ((index + at) & (Long.BYTES - 1)));
        final int word = (index + at) / Long.BYTES;
        final ByteBuffer value = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        value.putLong(0, bytes.getLong(word * Long.BYTES));
        value.put((index + at) & (Long.BYTES - 1), source, offset + at, step);
        store(word, value.getLong(0));
        at += step;
      }
    }

    @Override
    public void fullFence() {}

    @Override
    public void verify() {}
  }

  /** A segment as a reader sees it, which never stores. */
  private final class Shown implements MemoryRegion {
    private final Region region;

    Shown(Region region) {
      this.region = region;
    }

    @Override
    public int length() {
      return region.length();
    }

    @Override
    public long getLong(int index) {
      if ((index & (Long.BYTES - 1)) != 0) {
        throw new IllegalArgumentException("not aligned: index=" + index);
      }
      return load(region, index / Long.BYTES);
    }

    @Override
    public int getInt(int index) {
      final long word = load(region, index / Long.BYTES);
      return (int) (word >>> ((index & Integer.BYTES) * Byte.SIZE));
    }

    @Override
    public long getLongAcquire(int index) {
      return getLong(index);
    }

    @Override
    public int getIntAcquire(int index) {
      return getInt(index);
    }

    @Override
    public void getBytes(int index, byte[] destination, int offset, int length) {
      int at = 0;
      while (at < length) {
        final int begin = (index + at) & (Long.BYTES - 1);
        final int step = Math.min(length - at, Long.BYTES - begin);
        final long word = load(region, (index + at) / Long.BYTES);
        for (int i = 0; i < step; i++) {
          destination[offset + at + i] = (byte) (word >>> ((begin + i) * Byte.SIZE));
        }
        at += step;
      }
    }

    @Override
    public void putLong(int index, long value) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void putInt(int index, int value) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void putLongRelease(int index, long value) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void putIntRelease(int index, int value) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void putBytes(int index, byte[] source, int offset, int length) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void fullFence() {}

    @Override
    public void verify() {}
  }
}
