package dev.ringfetch.index.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.layout.SpatialQuery;
import dev.ringfetch.index.layout.SpatialReader;
import dev.ringfetch.index.layout.SpatialSearch;
import dev.ringfetch.index.store.SpatialStoreTest.Places;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.locationtech.jts.geom.Envelope;
import org.locationtech.jts.index.quadtree.Quadtree;
import org.locationtech.jts.index.strtree.ItemBoundable;
import org.locationtech.jts.index.strtree.ItemDistance;
import org.locationtech.jts.index.strtree.STRtree;

/**
 * A spatial store whose entries move, and its reader, find what JTS finds in a quadtree, to which
 * the same is done, and in an R-tree, which is packed now and then; a look at all entries judges
 * both. {@code -Dringfetch.seed=SEED} repeats a run.
 */
final class SpatialOracleTest {
  private static final long SEED = Long.getLong("ringfetch.seed", System.nanoTime());
  private static final int PARTITIONS = 4;
  private static final int IDS = 2_000;

  /** Where each search finds most of them. */
  private static final int FEW_IDS = 200;

  private static final int LOOKS = 2_000; // operations between two looks at all entries
  private static final int NEAREST_MAX = 20;

  private final Random random = new Random(SEED);
  private final SpatialIndex index =
      new SpatialIndex(Memories.serving(1 << 20, 128 << 20), PARTITIONS, 5);
  private final SpatialReader reader = index.newReader();
  private final Quadtree quadtree = new Quadtree();
  private double[][] boxes; // by number; null: absent
  private long version;

  @ParameterizedTest
  @EnumSource(Places.class)
  void findsWhatJtsFinds(Places kind) {
    run(kind, 10_000);
  }

  @Tag("slow")
  @Timeout(900)
  @ParameterizedTest
  @EnumSource(Places.class)
  void findsWhatJtsFindsInMillionOperations(Places kind) {
    run(kind, 1_000_000 / Places.values().length);
  }

  private void run(Places kind, int operations) {
    System.out.println("SpatialOracleTest: kind=" + kind + " seed=" + SEED);
    final int ids = kind == Places.NESTED || kind == Places.EXTREME ? FEW_IDS : IDS;
    boxes = new double[ids][];
    index.complete();
    for (int i = 0; i < operations; i++) {
      final int number = random.nextInt(ids);
      switch (random.nextInt(10)) {
        case 0, 1, 2 -> put(number, kind.next(random));
        case 3, 4, 5 -> move(number);
        case 6 -> delete(number);
        case 7, 8 -> checkSearch(around(kind.next(random)), false);
        default -> {
          if (boxes[number] != null) {
            checkSearch(boxes[number], false);
          }
        }
      }
      if (i % LOOKS == LOOKS - 1) {
        checkSearch(around(kind.next(random)), true);
        checkNearest(kind);
      }
    }
  }

  private static ByteString id(int number) {
    return ByteString.copyFrom(
        new byte[] {(byte) (number >> 16), (byte) (number >> 8), (byte) number});
  }

  private static int number(byte[] bytes, int offset) {
    return ((bytes[offset] & 0xFF) << 16)
        | ((bytes[offset + 1] & 0xFF) << 8)
        | (bytes[offset + 2] & 0xFF);
  }

  private static Envelope envelope(double[] box) {
    return new Envelope(box[0], box[2], box[1], box[3]);
  }

  private PartitionStore store(ByteString id) {
    return index.partition(index.partitionOf(id));
  }

  private void put(int number, double[] box) {
    final ByteString id = id(number);
    final ByteString value = SpatialStoreTest.value(box, ++version);
    assertEquals(0, store(id).reserve(id.size(), value.size()));
    store(id).put(id, value, version);
    store(id).grow();
    removeFromOracle(number);
    quadtree.insert(envelope(box), number);
    boxes[number] = box;
  }

  private void removeFromOracle(int number) {
    if (boxes[number] != null) {
      assertTrue(quadtree.remove(envelope(boxes[number]), number), "seed=" + SEED);
    }
  }

  /** A short way, or by any power of two. */
  private void move(int number) {
    final double[] box = boxes[number];
    if (box != null) {
      final double x = random.nextGaussian() * Math.pow(2, random.nextInt(12) - 6);
      final double y = random.nextGaussian();
      put(number, new double[] {box[0] + x, box[1] + y, box[2] + x, box[3] + y});
    }
  }

  private void delete(int number) {
    assertEquals(boxes[number] != null, store(id(number)).delete(id(number)), "seed=" + SEED);
    removeFromOracle(number);
    boxes[number] = null;
  }

  private double[] around(double[] box) {
    final double by = random.nextDouble() * Math.pow(2, random.nextInt(8) - 3);
    return new double[] {box[0] - by, box[1] - by, box[2] + by, box[3] + by};
  }

  private void checkSearch(double[] box, boolean byLook) {
    final Set<Integer> found = new HashSet<>();
    final SpatialSearch search = new SpatialSearch(SpatialQuery.intersecting(box));
    final ReadResult result =
        reader.search(
            search,
            (array, key, keyLength, valueLength, entryVersion, deadline) -> {
              assertTrue(found.add(number(array, key)), "twice, seed=" + SEED);
              return true;
            });
    assertEquals(ReadResult.ABSENT, result);
    final Set<Integer> expected = new HashSet<>();
    for (final Object candidate : quadtree.query(envelope(box))) {
      if (intersects(boxes[(Integer) candidate], box)) {
        expected.add((Integer) candidate);
      }
    }
    assertEquals(expected, found, () -> "seed=" + SEED);
    if (byLook) {
      final Set<Integer> all = new HashSet<>();
      for (int number = 0; number < boxes.length; number++) {
        if (boxes[number] != null && intersects(boxes[number], box)) {
          all.add(number);
        }
      }
      assertEquals(all, found, () -> "seed=" + SEED);
    }
  }

  private static boolean intersects(double[] one, double[] other) {
    return envelope(one).intersects(envelope(other));
  }

  /** Compares distances: entries at the same one may come in any order. */
  private void checkNearest(Places kind) {
    final STRtree packed = new STRtree();
    for (int number = 0; number < boxes.length; number++) {
      if (boxes[number] != null) {
        packed.insert(envelope(boxes[number]), number);
      }
    }
    for (int i = 0; i < 5 && packed.size() > 0; i++) {
      final double[] from = kind.next(random);
      final int count = 1 + random.nextInt(Math.min(NEAREST_MAX, packed.size()));
      final Envelope point = new Envelope(from[0], from[0], from[1], from[1]);
      final Object[] neighbors = packed.nearestNeighbour(point, -1, distance(point), count);
      final List<Double> expected = new ArrayList<>();
      for (final Object neighbor : neighbors) {
        expected.add(square(boxes[(Integer) neighbor], from));
      }
      expected.sort(null);
      assertEquals(expected, nearest(from, count), () -> "seed=" + SEED);
    }
  }

  private ItemDistance distance(Envelope point) {
    return (one, other) -> envelope(one, point).distance(envelope(other, point));
  }

  private Envelope envelope(ItemBoundable item, Envelope point) {
    final int number = (Integer) item.getItem();
    return number < 0 ? point : envelope(boxes[number]);
  }

  private static double square(double[] box, double[] from) {
    final double x = Math.max(0, Math.max(box[0] - from[0], from[0] - box[2]));
    final double y = Math.max(0, Math.max(box[1] - from[1], from[1] - box[3]));
    return x * x + y * y;
  }

  private List<Double> nearest(double[] from, int count) {
    final SpatialQuery query = SpatialQuery.near(from[0], from[1], 1, 1, Double.POSITIVE_INFINITY);
    final PriorityQueue<Double> farthestFirst = new PriorityQueue<>((a, b) -> Double.compare(b, a));
    final ReadResult result =
        reader.search(
            new SpatialSearch(query),
            (array, key, keyLength, valueLength, entryVersion, deadline) -> {
              farthestFirst.add(square(boxes[number(array, key)], from));
              if (farthestFirst.size() > count) {
                farthestFirst.remove();
              }
              if (farthestFirst.size() == count) {
                query.bound(farthestFirst.element());
              }
              return true;
            });
    assertEquals(ReadResult.ABSENT, result);
    final List<Double> found = new ArrayList<>(farthestFirst);
    found.sort(null);
    return found;
  }
}
