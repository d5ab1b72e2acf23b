package dev.ringfetch.index.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.BoxDescriptor;
import dev.ringfetch.index.layout.EntrySink;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.layout.SpatialQuery;
import dev.ringfetch.index.layout.SpatialReader;
import dev.ringfetch.index.layout.SpatialSearch;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Searches beside an owner whose stores arrive one by one, some before their turn: between any two
 * loads of the reader, and in the middle of the copies that cards make.
 */
class SimulatedSpatialTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 1);
  private static final int WORLDS = Integer.getInteger("ringfetch.worlds", 40);
  private static final int SEARCHES = 60;

  /** Entries that stay within the square from 0 to 100, where the searches look. */
  private static final int STAYING = 120;

  /** Entries that come, leave, and are anywhere. */
  private static final int OTHERS = 120;

  private Random random;
  private SpatialStore store;
  private long version;
  private int found;
  private int undecided;

  /** Boxes of each entry, by version; an entry is absent at versions that it does not have. */
  private final Map<ByteString, Map<Long, double[]>> boxes = new HashMap<>();

  private void write() {
    final int number = random.nextInt(STAYING + OTHERS);
    final ByteString id = ByteString.copyFromUtf8("e" + number);
    if (number >= STAYING && random.nextInt(3) == 0) {
      store.delete(id);
      return;
    }
    put(id, place(number));
  }

  private double[] place(int number) {
    final double range = number < STAYING ? 100 : 150;
    final double x = random.nextInt(4) == 0 ? random.nextInt(100) : random.nextDouble() * range;
    final double y = random.nextDouble() * range;
    return new double[] {x, y, x + random.nextInt(2), y + random.nextInt(2)};
  }

  private void put(ByteString id, double[] box) {
    final ByteString value = BoxDescriptor.bytes(box[0], box[1], box[2], box[3]);
    assertEquals(0, store.reserve(id.size(), value.size()));
    store.put(id, value, ++version);
    store.grow();
    boxes.computeIfAbsent(id, unused -> new HashMap<>()).put(version, box);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whatStaysIsFoundOnceAndNothingTwice(boolean posted) {
    for (int world = 0; world < WORLDS; world++) {
      final long seed = SEED + world;
      random = new Random(seed);
      boxes.clear();
      version = 0;
      final StoreLog log = new StoreLog(random, this::write);
      log.freeze(true);
      final LoggedMemory memory = new LoggedMemory(log, seed);
      final SpatialIndex index = new SpatialIndex(memory.memory, 1, seed);
      store = (SpatialStore) index.partition(0);
      index.complete();
      for (int i = 0; i < STAYING + OTHERS; i++) {
        put(ByteString.copyFromUtf8("e" + i), place(i));
      }
      log.flush();
      log.freeze(false);
      final SpatialReader reader =
          new SpatialReader(
              posted ? memory.copyingReads(random) : memory.liveReads(), index.location());
      for (int i = 0; i < SEARCHES; i++) {
        search(reader, "seed=" + seed + " posted=" + posted + " search=" + i);
      }
    }
    System.out.println("found=" + found + " undecided=" + undecided);
    assertTrue(found > 10 * undecided, "found=" + found + " undecided=" + undecided);
  }

  private void search(SpatialReader reader, String where) {
    final double[] square = {0, 0, 101, 101};
    final SpatialSearch search = new SpatialSearch(SpatialQuery.intersecting(square));
    final Set<ByteString> ids = new HashSet<>();
    final EntrySink sink =
        (array, key, keyLength, valueLength, of, deadline) -> {
          final ByteString id = ByteString.copyFrom(array, key, keyLength);
          assertTrue(ids.add(id), () -> where + " twice: " + id.toStringUtf8());
          final double[] box = boxes.get(id).get(of);
          assertEquals(
              BoxDescriptor.bytes(box[0], box[1], box[2], box[3]),
              ByteString.copyFrom(array, key + keyLength, valueLength),
              where);
          return true;
        };
    final ReadResult result = reader.search(search, sink);
    if (result == ReadResult.UNDECIDED) {
      undecided++;
      return;
    }
    assertEquals(ReadResult.ABSENT, result, where);
    found++;
    for (int i = 0; i < STAYING; i++) {
      final int number = i;
      assertTrue(
          ids.contains(ByteString.copyFromUtf8("e" + i)), () -> where + " missing: e" + number);
    }
  }
}
