package dev.ringfetch.index.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.BoxDescriptor;
import dev.ringfetch.index.layout.EntrySink;
import dev.ringfetch.index.layout.NearestEntries;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.layout.SpatialQuery;
import dev.ringfetch.index.layout.SpatialReader;
import dev.ringfetch.index.layout.SpatialSearch;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The round trips of searches over a fabric that maps no memory, and their READs. */
class SpatialRoundTripsTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 76);
  private static final int ENTRIES = 60_000;
  private static final int SEARCHES = 50;

  private final Random random = new Random(SEED);
  private CountedReads counted;

  private SpatialReader open(int partitions) {
    final StoreMemory memory = Memories.serving(1 << 20, 64 << 20);
    final SpatialIndex index = new SpatialIndex(memory, partitions, 5);
    index.complete();
    for (int i = 0; i < ENTRIES; i++) {
      final double x = random.nextDouble() * 1000;
      final double y = random.nextDouble() * 1000;
      final ByteString id = ByteString.copyFromUtf8("id " + i);
      final ByteString value = BoxDescriptor.bytes(x, y, x, y);
      final PartitionStore store = index.partition(index.partitionOf(id));
      assertEquals(0, store.reserve(id.size(), value.size()));
      store.put(id, value, i + 1);
      store.grow();
    }
    counted = new CountedReads(memory.newReads());
    return new SpatialReader(counted, index.location(), 0);
  }

  /** Mean of the round trips of searches that find about so many entries. */
  private double search(SpatialReader reader, double results, String name) {
    final double side = 1000 * Math.sqrt(results / ENTRIES);
    final long[] found = {0};
    counted.reset();
    for (int i = 0; i < SEARCHES; i++) {
      final double x = random.nextDouble() * (1000 - side);
      final double y = random.nextDouble() * (1000 - side);
      final SpatialSearch search =
          new SpatialSearch(SpatialQuery.intersecting(new double[] {x, y, x + side, y + side}));
      final EntrySink sink =
          (array, key, keyLength, valueLength, version, deadline) -> ++found[0] > 0;
      assertEquals(ReadResult.ABSENT, reader.search(search, sink));
    }
    return report(name + " of " + found[0] / SEARCHES);
  }

  private double nearest(SpatialReader reader, int limit, int mostReads) {
    counted.reset();
    for (int i = 0; i < SEARCHES; i++) {
      final SpatialQuery query =
          SpatialQuery.near(
              random.nextDouble() * 1000,
              random.nextDouble() * 1000,
              1,
              1,
              Double.POSITIVE_INFINITY);
      final NearestEntries nearest = new NearestEntries(query, limit, 1 << 20);
      final EntrySink sink =
          (array, key, keyLength, valueLength, version, deadline) -> {
            nearest.add(array, key, keyLength, valueLength, version, deadline);
            return true;
          };
      assertEquals(ReadResult.ABSENT, reader.search(new SpatialSearch(query), sink));
      assertEquals(limit, nearest.count());
    }
    assertTrue(counted.reads() < mostReads * SEARCHES);
    return report("nearest " + limit);
  }

  private double report(String name) {
    System.out.printf(
        "RESULT %s: %.1f round trips, %.0f READs, %.0f us%n",
        name, counted.batches() / SEARCHES, counted.reads() / SEARCHES, counted.us() / SEARCHES);
    return counted.batches() / SEARCHES;
  }

  @Test
  void nodesAndBlocksAreReadTogether() {
    System.out.println("ringfetch.seed=" + SEED);
    for (final int partitions : new int[] {1, 16, 32}) {
      final SpatialReader reader = open(partitions);
      final int groups = (partitions + 15) / 16;
      System.out.println("partitions=" + partitions);
      // Heads, three or four levels, blocks, moves.
      assertTrue(search(reader, 0.1, "search") < 10 * groups);
      assertTrue(search(reader, 10, "search") < 14 * groups);
      assertTrue(search(reader, 100, "search") < 24 * groups);
      assertTrue(search(reader, 1000, "search") < 50 * groups);
      assertTrue(nearest(reader, 10, partitions == 1 ? 90 : 180 * groups) < 13 * groups);
      assertTrue(nearest(reader, 100, 330 * groups) < 20 * groups);
      assertTrue(nearest(reader, 1000, 2000 * groups) < 45 * groups);
    }
  }
}
