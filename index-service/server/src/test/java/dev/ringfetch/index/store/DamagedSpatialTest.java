package dev.ringfetch.index.store;

import static java.util.stream.Collectors.toSet;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.MappedRegion;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.index.layout.BlockDescriptor;
import dev.ringfetch.index.layout.BoxDescriptor;
import dev.ringfetch.index.layout.EntrySink;
import dev.ringfetch.index.layout.GroupDescriptor;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.layout.Reads;
import dev.ringfetch.index.layout.SpatialDescriptor;
import dev.ringfetch.index.layout.SpatialNodeDescriptor;
import dev.ringfetch.index.layout.SpatialQuery;
import dev.ringfetch.index.layout.SpatialReader;
import dev.ringfetch.index.layout.SpatialSearch;
import dev.ringfetch.index.partition.Handover;
import dev.ringfetch.index.partition.ImmediateLog;
import dev.ringfetch.index.partition.Partition;
import dev.ringfetch.index.partition.Write;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A process of the same user changes the memory of a spatial index, or takes it away, beside its
 * owner and its readers: each search is right, or leaves the answer to a call.
 */
@Timeout(value = 120, threadMode = ThreadMode.SEPARATE_THREAD)
class DamagedSpatialTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 76);
  private static final int SEGMENT_LENGTH = 64 << 10;
  private static final int SEGMENTS = 64;
  private static final int ENTRIES = 400;

  /** Partitions that are searched together. */
  private static final int GROUP = 16;

  private static final int WORLDS = 30;
  private static final double[] ALL = {-1, -1, 200, 200};

  private final Random random = new Random(SEED);
  private final List<MemoryRegion> regions = new ArrayList<>();
  private final Map<ByteString, Long> expected = new HashMap<>();
  private MemoryRegion gate = Memories.openGate();
  private StoreMemory memory;
  private SpatialIndex index;
  private Partition[] partitions;

  @TempDir Path directory;

  @BeforeEach
  void open() {
    System.out.println("ringfetch.seed=" + SEED);
    open(DirectRegion::new);
  }

  private void open(StoreMemory.SegmentSource source) {
    open(source, ENTRIES, 1);
  }

  private void open(StoreMemory.SegmentSource source, int entries, int count) {
    regions.clear();
    expected.clear();
    memory =
        Memories.serving(
            Memories.context(SEGMENT_LENGTH, (long) SEGMENTS * SEGMENT_LENGTH)
                .gate(gate, 0)
                .segmentSource(Memories.noting(regions, source)));
    index = new SpatialIndex(memory, count, 5);
    index.complete();
    partitions = new Partition[count];
    for (int i = 0; i < count; i++) {
      partitions[i] =
          new Partition(index.partition(i), new ImmediateLog(0), 8, error -> {}, Handover.never());
    }
    for (int i = 0; i < entries; i++) {
      put(i);
    }
  }

  private static ByteString id(int number) {
    return ByteString.copyFromUtf8("id " + number);
  }

  private Write submit(Write write) {
    assertEquals(0, partitions[index.partitionOf(write.key())].submit(write));
    return write;
  }

  private void put(int number) {
    put(id(number), random.nextDouble() * 100, random.nextDouble() * 100);
  }

  private void put(ByteString id, double x, double y) {
    final Write write = submit(new Write(answered -> {}).put(id, BoxDescriptor.bytes(x, y, x, y)));
    if (write.outcome() == Write.DONE) {
      expected.put(id, write.version());
    }
  }

  private SpatialReader reader(boolean posted) {
    return new SpatialReader(
        new ScriptedReads(memory.newReads(), new ArrayDeque<>(), !posted), index.location(), 16);
  }

  /** Searches; what comes is right, and all if the reader says so. */
  private ReadResult search(SpatialReader reader) {
    final Set<ByteString> ids = new HashSet<>();
    final EntrySink sink =
        (array, key, keyLength, valueLength, version, deadline) -> {
          final ByteString id = ByteString.copyFrom(array, key, keyLength);
          assertEquals(expected.get(id), version);
          assertTrue(ids.add(id), "twice");
          return random.nextInt(50) != 0;
        };
    final SpatialSearch search =
        new SpatialSearch(
            random.nextBoolean()
                ? SpatialQuery.intersecting(ALL)
                : SpatialQuery.near(50, 50, 1, 1, Double.POSITIVE_INFINITY));
    ReadResult result;
    do {
      result = reader.search(search, sink);
    } while (result == ReadResult.FOUND);
    if (result == ReadResult.ABSENT) {
      assertEquals(expected.keySet(), ids, "seed=" + SEED);
    }
    return result;
  }

  private void scribble() {
    final MemoryRegion region = regions.get(random.nextInt(regions.size()));
    final int at = random.nextInt(SEGMENT_LENGTH) & ~7;
    final long word = region.getLong(at);
    region.putLong(
        at,
        switch (random.nextInt(5)) {
          case 0 -> 0;
          case 1 -> random.nextLong();
          case 2 -> region.getLong(random.nextInt(SEGMENT_LENGTH) & ~7);
          case 3 ->
              ((long) random.nextInt(SEGMENTS * SEGMENT_LENGTH)) & -SpatialNodeDescriptor.LENGTH;
          default -> word ^ (1L << random.nextInt(64));
        });
  }

  @Test
  void searchesAreRightOrLeaveTheAnswerToACall() {
    final Map<ReadResult, Integer> counts = new EnumMap<>(ReadResult.class);
    int damaged = 0;
    for (int w = 0; w < WORLDS; w++) {
      open(DirectRegion::new);
      final SpatialReader mapped = reader(false);
      final SpatialReader posted = reader(true);
      for (int i = 0; i < 200 && !index.isRefused(); i++) {
        scribble();
        put(random.nextInt(ENTRIES));
        if (!index.isRefused()) {
          counts.merge(search(i % 2 == 0 ? mapped : posted), 1, Integer::sum);
        }
      }
      damaged += index.isRefused() ? 1 : 0;
      if (index.isRefused()) {
        assertEquals(ReadResult.CLOSED, search(posted));
      }
    }
    System.out.println("damaged=" + damaged + " of " + WORLDS + " " + counts);
    assertTrue(damaged > WORLDS / 10, "damaged=" + damaged);
    assertTrue(counts.get(ReadResult.UNDECIDED) > 10, counts::toString);
    assertTrue(counts.get(ReadResult.ABSENT) > 10, counts::toString);
  }

  /** The words of the head have no checksum: whatever is in them, a search ends. */
  @Test
  void forgedHeadsLeadNowhere() {
    final long head = index.location().root() + SpatialDescriptor.head(0, 1);
    final MemoryRegion region = memory.region(head);
    final int at = memory.offset(head);
    final List<Long> words = new ArrayList<>(List.of(0L, 1L, -1L, Long.MIN_VALUE, 1L << 49, 1024L));
    for (long address = 0; address < regions.size() * (long) SEGMENT_LENGTH; address += 1024) {
      words.add(address);
    }
    for (final boolean posted : new boolean[] {false, true}) {
      for (final int offset :
          new int[] {
            SpatialDescriptor.ROOT_OFFSET,
            SpatialDescriptor.RING_OFFSET,
            SpatialDescriptor.MOVES_OFFSET
          }) {
        final long right = region.getLong(at + offset);
        for (final long word : words) {
          region.putLong(at + offset, word);
          final ReadResult result = search(reader(posted));
          assertTrue(
              result == ReadResult.ABSENT || result == ReadResult.UNDECIDED, "result=" + result);
          assertTrue(
              offset != SpatialDescriptor.ROOT_OFFSET
                  || (result == ReadResult.ABSENT) == (word == right));
        }
        region.putLong(at + offset, right);
      }
      assertEquals(ReadResult.ABSENT, search(reader(posted)));
    }
  }

  /** A sink that wants all, and changes a word before each visit of nodes. */
  private static EntrySink storing(Set<ByteString> ids, SpatialSearch search, Runnable store) {
    return new EntrySink() {
      @Override
      public boolean take(
          byte[] array, int key, int keyLength, int valueLength, long of, long deadline) {
        assertTrue(ids.add(ByteString.copyFrom(array, key, keyLength)), "twice");
        assertTrue(search.isAdvancing());
        return true;
      }

      @Override
      public boolean passes() {
        store.run();
        return true;
      }
    };
  }

  /** A search that cannot decide says at which partition, and goes on when that can be read. */
  @ParameterizedTest
  @CsvSource({"2, false", "20, false", "2, true", "20, true"})
  void undecidedSearchNamesThePartition(int damaged, boolean posted) {
    final int count = 2 * GROUP;
    open(DirectRegion::new, ENTRIES, count);
    final long head = index.location().root() + SpatialDescriptor.head(damaged, count);
    final long root =
        memory.region(head).getLong(memory.offset(head) + SpatialDescriptor.ROOT_OFFSET);
    final byte[] image = new byte[SpatialNodeDescriptor.COPY_LENGTH];
    memory
        .region(root)
        .getBytes(
            memory.offset(root), image, BlockDescriptor.COPY_OFFSET, SpatialNodeDescriptor.LENGTH);
    assertEquals(0, SpatialNodeDescriptor.level(image));
    final long block = GroupDescriptor.address(SpatialNodeDescriptor.target(image, 0));
    final long moves = head + SpatialDescriptor.MOVES_OFFSET;
    final Set<ByteString> ids = new HashSet<>();
    final SpatialSearch search = new SpatialSearch(SpatialQuery.intersecting(ALL));
    final SpatialReader reader = reader(posted);
    assertTrue(search.isAdvancing());

    for (final long place : new long[] {root, block}) {
      final long word = memory.region(place).getLong(memory.offset(place));
      memory.region(place).putLong(memory.offset(place), ~word);
      for (int i = 0; i < 3; i++) {
        assertIsAt(damaged, search, reader.search(search, storing(ids, search, () -> {})));
      }
      memory.region(place).putLong(memory.offset(place), word);
    }
    // moves that have no records, or too many of them
    for (final int more : new int[] {1, 2 * SpatialDescriptor.LINES}) {
      final long word = memory.region(moves).getLong(memory.offset(moves));
      assertEquals(0, word);
      final long[] made = {0};
      final EntrySink sink =
          storing(
              ids,
              search,
              () -> {
                made[0] += more;
                memory
                    .region(moves)
                    .putLong(memory.offset(moves), SpatialDescriptor.moves(made[0], false));
              });
      assertIsAt(damaged, search, reader.search(search, sink));
      memory.region(moves).putLong(memory.offset(moves), word);
    }
    assertEquals(ReadResult.ABSENT, reader.search(search, storing(ids, search, () -> {})));
    assertEquals(expected.keySet(), ids);

    // a head that names a root where no memory is: the reads of several partitions fail together
    memory.region(root).putLong(memory.offset(root), 0);
    final SpatialSearch another = new SpatialSearch(SpatialQuery.intersecting(ALL));
    ids.clear();
    assertIsAt(damaged, another, reader.search(another, storing(ids, another, () -> {})));
    memory.region(head).putLong(memory.offset(head) + SpatialDescriptor.ROOT_OFFSET, 1L << 49);
    assertEquals(ReadResult.UNDECIDED, reader.search(another, storing(ids, another, () -> {})));
    assertEquals(GROUP, another.doubts(count));
    final Set<Integer> asked = new TreeSet<>();
    for (int turn = 50; turn < 50 + GROUP; turn++) {
      asked.add(another.doubtful(turn, count));
    }
    final int first = damaged / GROUP * GROUP;
    assertEquals(IntStream.range(first, first + GROUP).boxed().collect(toSet()), asked);
  }

  private static void assertIsAt(int damaged, SpatialSearch search, ReadResult result) {
    assertEquals(ReadResult.UNDECIDED, result);
    assertEquals(1, search.doubts(2 * GROUP));
    assertEquals(damaged, search.doubtful(1, 2 * GROUP));
    assertFalse(search.isAdvancing());
  }

  /**
   * A fault at any load, of which the reader learns at once or late, ends a step. Another reader,
   * whose memory is there, goes on: nothing is missing, not even what moves meanwhile.
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void searchGoesOnBehindAFault(boolean isLate) {
    final int entries = 3 * SpatialNodeDescriptor.CAPACITY;
    boolean isFaulty = true;
    for (int load = 1; isFaulty; load++) {
      open(DirectRegion::new, entries, 1);
      final FaultyReads reads = new FaultyReads(memory.newReads(), load, isLate);
      final Set<ByteString> ids = new HashSet<>();
      final EntrySink sink =
          new EntrySink() {
            private double x; // of an entry of the first leaf
            private double y;

            @Override
            public boolean take(
                byte[] array, int key, int keyLength, int valueLength, long of, long deadline) {
              if (ids.isEmpty()) {
                x = BoxDescriptor.bound(array, key + keyLength, 0);
                y = BoxDescriptor.bound(array, key + keyLength, 1);
              }
              assertTrue(ids.add(ByteString.copyFrom(array, key, keyLength)), "twice");
              if (ids.size() == SpatialNodeDescriptor.CAPACITY + 1) { // it was read to its end
                final Set<ByteString> left = new HashSet<>(expected.keySet());
                left.removeAll(ids);
                left.stream().limit(left.size() / 2).forEach(id -> put(id, x, y));
              }
              return true;
            }

            @Override
            public int room() {
              return 1;
            }
          };
      final SpatialSearch search = new SpatialSearch(SpatialQuery.intersecting(ALL));
      ReadResult result = new SpatialReader(reads, index.location(), 16).search(search, sink);
      isFaulty = reads.hasFailed;
      assertEquals(isFaulty ? ReadResult.LOST : ReadResult.ABSENT, result);
      if (isFaulty) {
        assertEquals(ReadResult.FOUND, reader(false).search(search, STOPPING));
        assertFalse(search.isAdvancing(), "load=" + load);
      }
      result = reader(false).search(search, sink);
      assertEquals(ReadResult.ABSENT, result);
      assertEquals(expected.keySet(), ids, "load=" + load + " seed=" + SEED);
    }
  }

  /** A sink that ends a step before it visits a node. */
  private static final EntrySink STOPPING =
      new EntrySink() {
        @Override
        public boolean take(
            byte[] array, int key, int keyLength, int valueLength, long of, long deadline) {
          throw new AssertionError("an entry that was not read");
        }

        @Override
        public boolean passes() {
          return false;
        }
      };

  /** Reads of memory of which some, from a load on, is not there until the reader learns of it. */
  private static final class FaultyReads extends ForwardingReads {
    /** Pieces at the begin of a batch: the gate and the open word. */
    private static final int GATE_PIECES = 2;

    private static final MemoryRegion ZEROS = new DirectRegion(SEGMENT_LENGTH);

    private final boolean isLate;
    private int left;
    private boolean isPending;
    boolean hasFailed;

    FaultyReads(Reads reads, int load, boolean isLate) {
      super(reads);
      this.isLate = isLate;
      left = load;
    }

    @Override
    public MemoryRegion region(int number) {
      if (number < GATE_PIECES) {
        return super.region(number);
      }
      if (--left == 0) {
        hasFailed = true;
        isPending = true;
        if (!isLate) {
          verify();
        }
      }
      return isPending ? ZEROS : super.region(number);
    }

    @Override
    public void verify() {
      if (isPending) {
        isPending = false;
        throw new InternalError("a fault of memory");
      }
    }

    @Override
    public boolean ordered() {
      return true;
    }
  }

  /** Memory is taken away between two entries: what came before is right. */
  @Test
  void searchUnderATruncationEnds() throws IOException {
    int lost = 0;
    for (int w = 0; w < WORLDS; w++) {
      final List<FileChannel> files = new ArrayList<>();
      final int world = w;
      gate = map(files, "gate" + w, 4096);
      gate.putLong(0, Memories.INCARNATION);
      files.remove(0).close();
      open(length -> map(files, "world" + world + "segment" + files.size(), length));
      final int at = random.nextInt(ENTRIES);
      final Set<ByteString> ids = new HashSet<>();
      ReadResult result;
      try {
        result =
            index
                .newReader()
                .search(
                    new SpatialSearch(SpatialQuery.intersecting(ALL)),
                    (array, key, keyLength, valueLength, version, deadline) -> {
                      final ByteString id = ByteString.copyFrom(array, key, keyLength);
                      assertEquals(expected.get(id), version);
                      assertTrue(ids.add(id), "twice");
                      if (ids.size() == at) {
                        truncate(files);
                      }
                      return true;
                    });
      } catch (InternalError e) { // late, as the reader says
        result = ReadResult.LOST;
      }
      assertTrue(result != ReadResult.ABSENT || ids.equals(expected.keySet()));
      lost += result == ReadResult.ABSENT ? 0 : 1;
      for (final FileChannel file : files) {
        file.close();
      }
    }
    assertTrue(lost > WORLDS / 2, "lost=" + lost);
  }

  private MemoryRegion map(List<FileChannel> files, String name, int length) throws IOException {
    final FileChannel file =
        FileChannel.open(
            directory.resolve(name),
            StandardOpenOption.CREATE_NEW,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE);
    files.add(file);
    return new MappedRegion(file.map(MapMode.READ_WRITE, 0, length));
  }

  private static void truncate(List<FileChannel> files) {
    try {
      for (final FileChannel file : files) {
        file.truncate(0);
      }
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
