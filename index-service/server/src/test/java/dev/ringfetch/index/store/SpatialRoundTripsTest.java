package dev.ringfetch.index.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.index.layout.BoxDescriptor;
import dev.ringfetch.index.layout.EntrySink;
import dev.ringfetch.index.layout.NearestEntries;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.layout.Reads;
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

  /** Published rates of a card (ConnectX-3): a READ of one line, and READs that it serves. */
  private static final double ROUND_TRIP_US = 1.8;

  private static final double READS_PER_US = 11.26;

  /** Of its port, of 40 Gb/s. */
  private static final double BYTES_PER_US = 5000;

  private final Random random = new Random(SEED);
  private long batches;
  private long reads;
  private long bytes;

  /** Counts batches, which are round trips, and READs. */
  private final class Counted implements Reads {
    private final Reads memory;

    Counted(Reads memory) {
      this.memory = memory;
    }

    @Override
    public void begin() {
      memory.begin();
    }

    @Override
    public int add(long address, int length) {
      reads++;
      bytes += length;
      return memory.add(address, length);
    }

    @Override
    public int execute() {
      batches++;
      return memory.execute();
    }

    @Override
    public MemoryRegion region(int number) {
      return memory.region(number);
    }

    @Override
    public int offset(int number) {
      return memory.offset(number);
    }

    @Override
    public int segmentShift() {
      return memory.segmentShift();
    }

    @Override
    public boolean ordered() {
      return false;
    }

    @Override
    public void verify() {
      memory.verify();
    }
  }

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
    return new SpatialReader(new Counted(memory.newReads()), index.location(), 0);
  }

  /** Mean of the round trips of searches that find about so many entries. */
  private double search(SpatialReader reader, double results, String name) {
    final double side = 1000 * Math.sqrt(results / ENTRIES);
    final long[] found = {0};
    batches = 0;
    reads = 0;
    bytes = 0;
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

  private double nearest(SpatialReader reader, int limit) {
    batches = 0;
    reads = 0;
    bytes = 0;
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
    return report("nearest " + limit);
  }

  private double report(String name) {
    final double trips = (double) batches / SEARCHES;
    final double each = (double) reads / SEARCHES;
    final double us =
        trips * ROUND_TRIP_US
            + Math.max(each / READS_PER_US, (double) bytes / SEARCHES / BYTES_PER_US);
    System.out.printf("RESULT %s: %.1f round trips, %.0f READs, %.0f us%n", name, trips, each, us);
    return trips;
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
      assertTrue(nearest(reader, 10) < 30 * groups);
      assertTrue(nearest(reader, 100) < 60 * groups);
    }
  }
}
