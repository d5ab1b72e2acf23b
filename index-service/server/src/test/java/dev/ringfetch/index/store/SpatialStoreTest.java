package dev.ringfetch.index.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.index.layout.BoxDescriptor;
import dev.ringfetch.index.layout.EntrySink;
import dev.ringfetch.index.layout.Found;
import dev.ringfetch.index.layout.KeyHash;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.layout.SpatialNodeDescriptor;
import dev.ringfetch.index.layout.SpatialQuery;
import dev.ringfetch.index.layout.SpatialReader;
import dev.ringfetch.index.layout.SpatialSearch;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A spatial store and its reader find what a look at all entries finds. */
class SpatialStoreTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 40);
  private static final int OPERATIONS = Integer.getInteger("ringfetch.operations", 20_000);
  private static final int IDS = 3000;
  private static final int PARTITIONS = 2;

  /** Where boxes are. */
  enum Places {
    /** Small boxes anywhere. */
    UNIFORM {
      @Override
      double[] next(Random random) {
        return box(random.nextDouble() * 1000, random.nextDouble() * 1000, random.nextDouble());
      }
    },
    /** Points, most of them close together. */
    SKEWED {
      @Override
      double[] next(Random random) {
        final double spread = Math.pow(10, random.nextInt(6) - 3);
        return box(500 + random.nextGaussian() * spread, 500 + random.nextGaussian() * spread, 0);
      }
    },
    /** Few different points. */
    EQUAL {
      @Override
      double[] next(Random random) {
        return box(random.nextInt(3) * 400, random.nextInt(2) * 400, 0);
      }
    },
    /** Points on a line. */
    LINE {
      @Override
      double[] next(Random random) {
        return box(random.nextDouble() * 1000, 7, 0);
      }
    },
    /** Small boxes on a diagonal: those of nodes there overlap. */
    DIAGONAL {
      @Override
      double[] next(Random random) {
        final double x = random.nextDouble() * 1000;
        return box(x, x, random.nextDouble());
      }
    },
    /** Boxes of all sizes, the largest over everything. */
    NESTED {
      @Override
      double[] next(Random random) {
        return box(500, 500, Math.pow(2, random.nextInt(60) - 30));
      }
    },
    /** Coordinates at the limit, and those that 32-bit floats cannot have. */
    EXTREME {
      @Override
      double[] next(Random random) {
        final double x =
            random.nextInt(4) == 0 ? BoxDescriptor.LIMIT : 1 + random.nextInt(9) * 1e-12;
        return new double[] {-x, 1 - 1e-15, x, 1};
      }
    };

    abstract double[] next(Random random);

    static double[] box(double x, double y, double size) {
      return new double[] {x, y, x + size, y + size};
    }
  }

  private final Random random = new Random(SEED);
  private final StoreMemory memory = Memories.serving(1 << 20, 64 << 20);
  private SpatialIndex index = new SpatialIndex(memory, PARTITIONS, 5);
  private SpatialReader reader = index.newReader();
  private final Map<ByteString, double[]> boxes = new HashMap<>();
  private final Map<ByteString, Long> versions = new HashMap<>();
  private long version;

  /** Of the images of all nodes. */
  private final Set<Long> sequences = new HashSet<>();

  private static ByteString id(int number) {
    return ByteString.copyFromUtf8("id-" + number);
  }

  static ByteString value(double[] box, long version) {
    return BoxDescriptor.bytes(box[0], box[1], box[2], box[3])
        .concat(ByteString.copyFromUtf8("v" + version));
  }

  private PartitionStore store(ByteString id) {
    return index.partition(index.partitionOf(id));
  }

  private void put(ByteString id, double[] box) {
    final ByteString value = value(box, ++version);
    assertTrue(store(id).accepts(value));
    assertEquals(0, store(id).reserve(id.size(), value.size()));
    store(id).put(id, value, version);
    store(id).grow();
    boxes.put(id, box);
    versions.put(id, version);
  }

  private void delete(ByteString id) {
    assertEquals(boxes.remove(id) != null, store(id).delete(id));
    versions.remove(id);
  }

  /** The versions of the entries that a search finds; no id comes twice. */
  private Map<ByteString, Long> search(SpatialQuery query) {
    final Map<ByteString, Long> found = new HashMap<>();
    final SpatialSearch search = new SpatialSearch(query);
    final EntrySink sink =
        (array, key, keyLength, valueLength, entryVersion, deadline) -> {
          final ByteString id = ByteString.copyFrom(array, key, keyLength);
          assertEquals(
              value(boxes.get(id), entryVersion),
              ByteString.copyFrom(array, key + keyLength, valueLength));
          assertEquals(null, found.put(id, entryVersion));
          return random.nextInt(50) != 0;
        };
    ReadResult result;
    do {
      result = reader.search(search, sink);
    } while (result == ReadResult.FOUND);
    assertEquals(ReadResult.ABSENT, result);
    assertEquals(0, search.repeats(), "found twice");
    return found;
  }

  private void check(SpatialQuery query, Predicate<double[]> condition) {
    final Map<ByteString, Long> expected = new HashMap<>();
    boxes.forEach(
        (id, box) -> {
          if (condition.test(box)) {
            expected.put(id, versions.get(id));
          }
        });
    assertEquals(expected, search(query));
  }

  private void checkQueries(Places kind) {
    final double[] q = kind.next(random);
    final double more = random.nextInt(3) * random.nextDouble() * 100;
    final double[] wide = {q[0] - more, q[1] - more, q[2] + more, q[3] + more};
    if (!BoxDescriptor.isLegal(wide[0], wide[1], wide[2], wide[3])) {
      return;
    }
    check(
        SpatialQuery.intersecting(wide),
        b -> b[0] <= wide[2] && b[2] >= wide[0] && b[1] <= wide[3] && b[3] >= wide[1]);
    check(
        SpatialQuery.within(wide),
        b -> b[0] >= wide[0] && b[2] <= wide[2] && b[1] >= wide[1] && b[3] <= wide[3]);
    check(
        SpatialQuery.containing(q),
        b -> b[0] <= q[0] && b[2] >= q[2] && b[1] <= q[1] && b[3] >= q[3]);
    checkNearest(q[0], q[1], 1 + random.nextInt(20));
  }

  private void checkNearest(double x, double y, int count) {
    final double weight = random.nextBoolean() ? 1 : 0.5;
    final SpatialQuery query = SpatialQuery.near(x, y, weight, 1, Double.POSITIVE_INFINITY);
    final List<Double> found = new ArrayList<>();
    final EntrySink sink =
        (array, key, keyLength, valueLength, entryVersion, deadline) -> {
          final double[] box = boxes.get(ByteString.copyFrom(array, key, keyLength));
          found.add(query.square(box[0], box[1], box[2], box[3]));
          found.sort(null);
          if (found.size() > count) {
            found.remove(count);
          }
          if (found.size() == count) {
            query.bound(found.get(count - 1));
          }
          return true;
        };
    final SpatialSearch search = new SpatialSearch(query);
    assertEquals(ReadResult.ABSENT, reader.search(search, sink));
    final double[] all =
        boxes.values().stream()
            .mapToDouble(
                b -> {
                  final double dx = weight * Math.max(0, Math.max(b[0] - x, x - b[2]));
                  final double dy = Math.max(0, Math.max(b[1] - y, y - b[3]));
                  return dx * dx + dy * dy;
                })
            .sorted()
            .limit(count)
            .toArray();
    assertEquals(Arrays.stream(all).boxed().toList(), found);
  }

  /**
   * Each node encloses what is below it, exactly; each image is the heap's. A reader remembers
   * images by address and sequence: no two partitions, which may get each other's memory, have the
   * same sequence.
   */
  private void checkTrees() {
    long entries = 0;
    sequences.clear();
    for (int i = 0; i < PARTITIONS; i++) {
      final SpatialTree tree = ((SpatialStore) index.partition(i)).tree();
      tree.check();
      assertEquals(SpatialNodeDescriptor.ROOT_BIRTH, tree.root().birth);
      entries += checkNode(tree, tree.root());
    }
    assertEquals(boxes.size(), entries);
  }

  private long checkNode(SpatialTree tree, SpatialNode node) {
    final byte[] image = new byte[SpatialNodeDescriptor.COPY_LENGTH];
    tree.nodes().load(node, image);
    assertTrue(sequences.add(node.sequence), "two partitions have the same sequence");
    assertEquals(node.level, SpatialNodeDescriptor.level(image));
    assertEquals(node.count, SpatialNodeDescriptor.count(image));
    assertTrue(node.parent == null || node.count > 0, "an empty node in the tree");
    final float[] bounds = new float[4];
    final float[] box = new float[4];
    Boxes.clear(bounds);
    long entries = node.level == 0 ? node.count : 0;
    for (int i = 0; i < node.count; i++) {
      SpatialNodeDescriptor.getBox(image, i, box);
      Boxes.enlarge(bounds, box);
      if (node.level > 0) {
        final SpatialNode child = node.children[i];
        assertEquals(child.address, SpatialNodeDescriptor.target(image, i));
        assertEquals(node, child.parent);
        assertEquals(Arrays.toString(child.box), Arrays.toString(box));
        entries += checkNode(tree, child);
      }
    }
    if (node.parent != null) {
      assertEquals(Arrays.toString(bounds), Arrays.toString(node.box), "level=" + node.level);
    }
    return entries;
  }

  @ParameterizedTest
  @EnumSource(Places.class)
  void findsWhatALookAtAllFinds(Places kind) {
    index.complete();
    for (int i = 0; i < OPERATIONS; i++) {
      final ByteString id = id(random.nextInt(IDS));
      if (random.nextInt(i < OPERATIONS / 2 ? 5 : 2) == 0) {
        delete(id);
      } else if (boxes.containsKey(id) && random.nextBoolean()) {
        final double[] near = boxes.get(id).clone();
        final double by = random.nextGaussian();
        if (near[2] + by <= BoxDescriptor.LIMIT && near[0] + by >= -BoxDescriptor.LIMIT) {
          near[0] += by;
          near[2] += by;
          near[2] = Math.max(near[0], near[2]);
          put(id, near);
        }
      } else {
        put(id, kind.next(random));
      }
      if (i % 500 == 0) {
        checkTrees();
      }
      if (i % 100 == 0) {
        checkQueries(kind);
      }
    }
    final long used = memory.usedBytes();
    for (final ByteString id : List.copyOf(boxes.keySet())) {
      delete(id);
    }
    checkTrees();
    checkQueries(kind);
    assertTrue(memory.usedBytes() < used, "seed=" + SEED);
    for (int i = 0; i < PARTITIONS; i++) {
      assertEquals(1, ((SpatialStore) index.partition(i)).tree().height());
    }
  }

  @ParameterizedTest
  @EnumSource(Places.class)
  void isPackedAfterARecovery(Places kind) {
    for (final int count : new int[] {0, 1, 60, 900, 30_000}) {
      for (int i = boxes.size(); i < count; i++) {
        put(id(i), kind.next(random));
      }
      index.complete();
      checkTrees();
      checkQueries(kind);
      for (int i = 0; i < 100 && count > 0; i++) {
        put(id(random.nextInt(count)), kind.next(random));
        delete(id(random.nextInt(count)));
      }
      checkTrees();
      checkQueries(kind);
      index.closeToReaders();
      index.drop();
      boxes.clear();
      index = new SpatialIndex(memory, PARTITIONS, count);
      reader = index.newReader();
    }
  }

  @Test
  void anEntryIsAbsentFromItsDeadlineOn() {
    index.complete();
    final ByteString id = id(1);
    final double[] box = {1, 2, 3, 4};
    final ByteString value = value(box, 7);
    assertEquals(0, store(id).reserve(id.size(), value.size(), true));
    store(id).put(id, value, 7, 1000);
    boxes.put(id, box);
    assertEquals(Map.of(id, 7L), search(SpatialQuery.within(box)));
    store(id).expiry().advance(999);
    assertEquals(Map.of(id, 7L), search(SpatialQuery.within(box)));
    store(id).expiry().advance(1000);
    assertEquals(Map.of(), search(SpatialQuery.within(box)));
    assertEquals(ReadResult.ABSENT, reader.get(id, new Found()));
  }

  /** Nothing that was read before the refusal is given by a later step. */
  @Test
  void whatIsNotAdmittedIsNotGiven() {
    index.complete();
    for (int i = 0; i < 100; i++) {
      put(id(i), Places.UNIFORM.next(random));
    }
    final SpatialSearch search =
        new SpatialSearch(SpatialQuery.intersecting(new double[] {-1, -1, 2000, 2000}));
    final Set<ByteString> ids = new HashSet<>();
    final boolean[] admits = new boolean[1];
    final EntrySink sink =
        new EntrySink() {
          @Override
          public boolean take(
              byte[] array, int key, int keyLength, int valueLength, long of, long deadline) {
            assertTrue(admits[0], "not admitted");
            return ids.add(ByteString.copyFrom(array, key, keyLength));
          }

          @Override
          public boolean admits() {
            return admits[0];
          }

          @Override
          public int room() {
            return 10;
          }
        };
    for (int i = 0; i < 3; i++) {
      assertEquals(ReadResult.CLOSED, reader.search(search, sink));
    }
    final List<ByteString> ended = List.copyOf(boxes.keySet()).subList(0, 50);
    ended.forEach(this::delete);
    admits[0] = true;
    assertEquals(ReadResult.ABSENT, reader.search(search, sink));
    assertEquals(boxes.keySet(), ids);
  }

  /**
   * As after a fail-over: the nodes that the search knows are others in the next memory, some at
   * the same addresses and with the same births. The first incarnations of two servers have the
   * same number, each in its own directory.
   */
  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void searchGoesOnInOtherMemory(int later) {
    final int entries = 500;
    final SpatialIndex here = row(Memories.INCARNATION, 7, entries, 0);
    final SpatialIndex there = row(Memories.INCARNATION + later, 8, entries, entries / 2);
    for (int most = 1; most < entries; most += 7) {
      final int first = most;
      final SpatialSearch search =
          new SpatialSearch(SpatialQuery.intersecting(new double[] {-1, -1, entries, 1}));
      final Set<ByteString> ids = new HashSet<>();
      final EntrySink some =
          new EntrySink() {
            @Override
            public boolean take(
                byte[] array, int key, int keyLength, int valueLength, long of, long deadline) {
              assertTrue(ids.add(ByteString.copyFrom(array, key, keyLength)), "twice");
              return ids.size() != first;
            }

            @Override
            public int room() {
              return 1;
            }
          };
      assertEquals(ReadResult.FOUND, here.newReader().search(search, some));
      final Queue<Runnable> batches = new ArrayDeque<>(Collections.nCopies(40, () -> {}));
      final SpatialReader next =
          new SpatialReader(
              new ScriptedReads(there.memory.newReads(), batches), there.location(), 0);
      final ReadResult ended =
          next.search(
              search,
              (array, key, keyLength, valueLength, of, deadline) -> {
                assertTrue(ids.add(ByteString.copyFrom(array, key, keyLength)), "twice");
                return true;
              });
      assertEquals(ReadResult.ABSENT, ended);
      assertEquals(entries, ids.size(), "most=" + most);
      assertFalse(batches.isEmpty(), "nodes of the former memory were looked for");
    }
  }

  /** An index of one partition, in a memory of its own: a row of points, from one of them on. */
  private static SpatialIndex row(long incarnation, long seed, int entries, int from) {
    final DirectRegion gate = new DirectRegion(64);
    gate.putLong(0, incarnation);
    final SpatialIndex row =
        new SpatialIndex(
            Memories.serving(
                Memories.context(1 << 20, 64 << 20)
                    .incarnation(incarnation)
                    .seed(seed)
                    .gate(gate, 0)),
            1,
            5);
    row.complete();
    for (int i = 0; i < entries; i++) {
      final int number = (from + i) % entries;
      final ByteString value = BoxDescriptor.bytes(number, 0, number, 0);
      assertEquals(0, row.partition(0).reserve(id(number).size(), value.size()));
      row.partition(0).put(id(number), value, i + 1);
    }
    return row;
  }

  /**
   * Two ids whose hashes are equal, whatever the seed: a difference in one bit of the first half
   * leaves one in the highest bit, which the second half takes back.
   */
  @Test
  void idsWithOneHashDoNotHideEachOther() {
    index.complete();
    for (int i = 0; i < 20; i++) {
      final long first = random.nextLong();
      final long second = random.nextLong();
      final ByteString id = id(mixed(first), mixed(second));
      final ByteString same = id(mixed(first ^ (1L << 36)), mixed(second ^ Long.MIN_VALUE));
      for (final long seed : new long[] {0, 5, random.nextLong()}) {
        assertEquals(
            KeyHash.of(id.toByteArray(), 0, 16, seed), KeyHash.of(same.toByteArray(), 0, 16, seed));
      }
      put(id, Places.UNIFORM.next(random));
      put(same, Places.UNIFORM.next(random));
      put(id.substring(0, 1 + i % 16), Places.UNIFORM.next(random));
      put(
          id.substring(0, 1 + i % 16).concat(ByteString.copyFrom(new byte[1])),
          Places.UNIFORM.next(random));
    }
    check(SpatialQuery.within(new double[] {-1, -1, 2000, 2000}), box -> true);
    boxes.keySet().forEach(id -> assertEquals(ReadResult.FOUND, reader.get(id, new Found())));
  }

  private static ByteString id(long first, long second) {
    return ByteString.copyFrom(
        ByteBuffer.allocate(16)
            .order(ByteOrder.LITTLE_ENDIAN)
            .putLong(first)
            .putLong(second)
            .array());
  }

  /** Eight bytes that add this to a hash. */
  private static long mixed(long added) {
    return Long.rotateRight(added * inverse(0x9E3779B185EBCA87L), 31)
        * inverse(0xC2B2AE3D27D4EB4FL);
  }

  /** The inverse of an odd number modulo 2^64. */
  private static long inverse(long odd) {
    long inverse = odd;
    for (int i = 0; i < 5; i++) {
      inverse *= 2 - odd * inverse;
    }
    return inverse;
  }

  @Test
  void takesLegalBoxesAlone() {
    final PartitionStore store = index.partition(0);
    assertFalse(store.accepts(ByteString.EMPTY));
    assertFalse(store.accepts(ByteString.copyFrom(new byte[31])));
    assertTrue(store.accepts(ByteString.copyFrom(new byte[32])));
    for (final double[] box :
        List.of(
            new double[] {Double.NaN, 0, 0, 0},
            new double[] {0, 0, 0, Double.NaN},
            new double[] {0, 0, -1, 0},
            new double[] {0, 1, 0, 0.5},
            new double[] {0, 0, Double.POSITIVE_INFINITY, 0},
            new double[] {-1.1e30, 0, 0, 0})) {
      assertFalse(store.accepts(value(box, 1)), Arrays.toString(box));
    }
    assertTrue(new HashIndex(memory, 1).partition(0).accepts(ByteString.EMPTY));
  }

  @Test
  void memoryIsReservedForSplits() {
    final StoreMemory small = Memories.serving(1 << 20, 2 << 20);
    final SpatialIndex full = new SpatialIndex(small, 1, 5);
    full.complete();
    final PartitionStore store = full.partition(0);
    int count = 0;
    final ByteString value = value(new double[] {0, 0, 0, 0}, 10);
    while (store.reserve(8, value.size()) == 0) {
      final ByteString key = ByteString.copyFromUtf8(String.format("%08d", count));
      final double x = random.nextDouble();
      store.put(key, value(new double[] {x, x, x, x}, 10), ++count);
    }
    assertTrue(count > 5000, "count=" + count);
    for (int i = 0; i < count; i++) {
      assertTrue(store.delete(ByteString.copyFromUtf8(String.format("%08d", i))));
    }
    assertEquals(0, store.reserve(8, value.size()));
  }

  @Test
  void damageIsFoundBeforeItIsTrusted() {
    index.complete();
    for (int i = 0; i < 200; i++) {
      put(id(i), Places.UNIFORM.next(random));
    }
    final SpatialStore store = (SpatialStore) index.partition(0);
    final long leaf = store.tree().root().children[0].address;
    final int at = memory.offset(leaf) + SpatialNodeDescriptor.ENTRIES_OFFSET + 4;
    memory.region(leaf).putInt(at, ~memory.region(leaf).getInt(at));
    assertThrows(StoreDamagedException.class, () -> store.check(ByteString.EMPTY));
    final SpatialSearch search =
        new SpatialSearch(SpatialQuery.intersecting(new double[] {-1, -1, 2000, 2000}));
    final ReadResult result = reader.search(search, (a, k, kl, vl, v, d) -> true);
    assertEquals(ReadResult.UNDECIDED, result);
  }
}
