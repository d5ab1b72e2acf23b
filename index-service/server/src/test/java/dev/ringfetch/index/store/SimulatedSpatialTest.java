package dev.ringfetch.index.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.hunt.Rounds;
import dev.ringfetch.index.layout.BoxDescriptor;
import dev.ringfetch.index.layout.EntrySink;
import dev.ringfetch.index.layout.Found;
import dev.ringfetch.index.layout.NearestEntries;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.layout.Reads;
import dev.ringfetch.index.layout.SpatialQuery;
import dev.ringfetch.index.layout.SpatialReader;
import dev.ringfetch.index.layout.SpatialSearch;
import dev.ringfetch.index.v1.Neighbor;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Predicate;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Searches beside an owner whose stores arrive one by one, some before their turn: between any two
 * loads of the reader, and in the middle of the copies that cards make. At the end of a world the
 * memory goes to another server, or to another index.
 */
class SimulatedSpatialTest {
  private static final int CACHED_NODES = 16;
  private static final long SEED = Long.getLong("ringfetch.seed", 1);
  private static final int WORLDS = Integer.getInteger("ringfetch.worlds", Rounds.once(12, 4));
  private static final int READS = Rounds.once(80, 30);
  private static final int READS_AFTER_END = 4;

  /** Entries that stay within the square from 0 to 100. */
  private static final int STAYING = 120;

  /** Those, and entries that come, leave, and are anywhere. */
  private static final int ENTRIES = 2 * STAYING;

  private static final double[] SQUARE = {0, 0, 101, 101};

  /** A state of an entry, which ends the one before within the stores from begin to end. */
  private static final class State {
    final long version;
    final double[] box; // null: absent
    final long begin;
    final long end;

    State(long version, double[] box, long begin, long end) {
      this.version = version;
      this.box = box;
      this.begin = begin;
      this.end = end;
    }
  }

  private static final class World {
    final Random random;
    final StoreLog log;
    final LoggedMemory logged;
    final SpatialIndex index;
    final SpatialReader[] readers = new SpatialReader[2];
    final StateHistory history = new StateHistory(ENTRIES);
    final List<List<State>> states = new ArrayList<>();
    final Found found = new Found();

    /** Null if no entry has a deadline. */
    final EndingEntries ending;

    long version;
    boolean hasEnded;

    /** Number of stores after which nothing may be read any more. */
    long closed = Long.MAX_VALUE;

    World(long seed, boolean posted, boolean expiring) {
      random = new Random(seed);
      log = new StoreLog(random, this::operate);
      log.freeze(true);
      logged = new LoggedMemory(log, seed);
      index = new SpatialIndex(logged.memory, expiring ? 1 : 1 << random.nextInt(2), seed);
      index.complete();
      ending = expiring ? new EndingEntries(index.partition(0).expiry(), random, ENTRIES) : null;
      for (int i = 0; i < ENTRIES; i++) {
        states.add(new ArrayList<>(List.of(new State(0, null, -1, -1))));
        put(i);
      }
      log.flush();
      log.freeze(false);
      for (int i = 0; i < readers.length; i++) {
        final Reads reads = posted ? logged.copyingReads(random) : logged.liveReads();
        readers[i] = new SpatialReader(reads, index.location(), CACHED_NODES);
      }
    }

    static ByteString id(int number) {
      return ByteString.copyFromUtf8("e" + number);
    }

    static int number(ByteString id) {
      return Integer.parseInt(id.substring(1).toStringUtf8());
    }

    private PartitionStore store(int number) {
      return index.partition(index.partitionOf(id(number)));
    }

    private void operate() {
      if (hasEnded) {
        end();
        return;
      }
      if (ending != null && random.nextInt(4) == 0) {
        final long begin = log.appended();
        ending.tick(number -> became(number, 0, null, begin));
        for (int i = 0; i < 10; i++) {
          ending.remove(index.partition(0), World::number, number -> {});
        }
        return;
      }
      final int number = random.nextInt(ENTRIES);
      if (number >= STAYING && random.nextInt(3) == 0) {
        final boolean hadEnded = ending != null && ending.hasEnded(number);
        final long begin = log.appended();
        if (store(number).delete(id(number)) && !hadEnded) {
          became(number, 0, null, begin);
        }
        if (ending != null) {
          ending.removed(number);
        }
        return;
      }
      put(number);
    }

    private double[] place(int number) {
      final double range = number < STAYING ? 100 : 150;
      final double x = random.nextInt(4) == 0 ? random.nextInt(100) : random.nextDouble() * range;
      final double y = random.nextDouble() * range;
      return new double[] {x, y, x + random.nextInt(2), y + random.nextInt(2)};
    }

    private void put(int number) {
      final double[] box = place(number);
      final ByteString value = BoxDescriptor.bytes(box[0], box[1], box[2], box[3]);
      final PartitionStore store = store(number);
      final long deadline = ending == null || number < STAYING ? 0 : ending.choose(number);
      assertEquals(0, store.reserve(id(number).size(), value.size(), deadline != 0));
      final long begin = log.appended();
      store.put(id(number), value, ++version, deadline);
      became(number, version, box, begin);
      store.grow();
    }

    private void became(int number, long newVersion, double[] box, long begin) {
      history.became(number, newVersion, begin, log.appended());
      states.get(number).add(new State(newVersion, box, begin, log.appended()));
    }

    /** Moves the gate and fills the memory with something else, or drops the index. */
    private void end() {
      if (closed != Long.MAX_VALUE) {
        return;
      }
      if (random.nextBoolean()) {
        logged.gate.putLongRelease(0, Memories.INCARNATION + 1);
        closed = log.appended();
        logged.gate.fullFence();
        logged.clear();
      } else {
        closed = log.appended() + 1;
        index.drop();
        final SpatialIndex other = new SpatialIndex(logged.memory, 1, 7);
        other.complete();
        for (int i = 0; i < 100; i++) { // versions that the dropped index never had
          final ByteString value = BoxDescriptor.bytes(i, 0, i, 0);
          assertEquals(0, other.partition(0).reserve(3, value.size()));
          other.partition(0).put(ByteString.copyFromUtf8("e" + i), value, 1_000_000 + i);
        }
      }
    }

    ReadResult read() {
      return switch (random.nextInt(5)) {
        case 0 -> get(random.nextInt(ENTRIES));
        case 1 -> nearest();
        case 2 -> search(place(ENTRIES));
        default -> search(SQUARE);
      };
    }

    private ReadResult get(int number) {
      final long start = log.applied();
      final ReadResult result = readers[0].get(id(number), found);
      if (!isOver(result, start) && result != ReadResult.UNDECIDED) {
        history.saw(number, result == ReadResult.FOUND ? found.version() : 0, start, log.applied());
      }
      return result;
    }

    private boolean isOver(ReadResult result, long start) {
      if (result == ReadResult.CLOSED) {
        assertTrue(log.applied() >= closed, "closed=" + closed);
        return true;
      }
      assertTrue(
          start < closed || result == ReadResult.UNDECIDED,
          "after the end: closed=" + closed + " start=" + start);
      return false;
    }

    /** Searches in steps, by two readers in turn. */
    private ReadResult search(SpatialSearch search, EntrySink sink) {
      ReadResult result;
      int step = 0;
      do {
        result = readers[step++ % 2].search(search, sink);
      } while (result == ReadResult.FOUND);
      return result;
    }

    private ReadResult search(double[] box) {
      final double more = box == SQUARE ? 0 : 5;
      final double[] wide = {box[0] - more, box[1] - more, box[2] + more, box[3] + more};
      final SpatialQuery query =
          random.nextInt(4) == 0 ? SpatialQuery.within(wide) : SpatialQuery.intersecting(wide);
      final Map<Integer, Long> versions = new HashMap<>();
      final boolean inSteps = random.nextBoolean();
      final int room = random.nextBoolean() ? Integer.MAX_VALUE : 1 + random.nextInt(20);
      final EntrySink sink =
          new EntrySink() {
            @Override
            public boolean take(
                byte[] array, int key, int keyLength, int valueLength, long of, long deadline) {
              note(
                  versions,
                  ByteString.copyFrom(array, key, keyLength + valueLength),
                  keyLength,
                  of);
              return !inSteps || random.nextInt(20) != 0;
            }

            @Override
            public int room() {
              return room;
            }
          };
      final long start = log.applied();
      final ReadResult result = search(new SpatialSearch(query), sink);
      final long end = log.applied();
      if (isOver(result, start) || end >= closed) {
        return result;
      }
      versions.forEach((number, of) -> history.saw(number, of, start, end));
      if (result == ReadResult.ABSENT) {
        for (int i = 0; i < ENTRIES; i++) {
          final boolean stays = stays(i, b -> query.accepts(b[0], b[1], b[2], b[3]), start, end);
          final int number = i;
          assertTrue(!stays || versions.containsKey(i), () -> "missing: e" + number);
        }
      }
      return result;
    }

    /** Notes an entry that was found: it comes once, with the box that it had. */
    private void note(Map<Integer, Long> versions, ByteString bytes, int keyLength, long of) {
      final int number = number(bytes.substring(0, keyLength));
      assertEquals(null, versions.put(number, of), () -> "twice: e" + number);
      for (final State state : states.get(number)) {
        if (state.version == of) {
          assertEquals(
              BoxDescriptor.bytes(state.box[0], state.box[1], state.box[2], state.box[3]),
              bytes.substring(keyLength));
        }
      }
    }

    /** Whether all states of an entry that may be those of a moment satisfy a condition. */
    private boolean stays(int number, Predicate<double[]> condition, long start, long end) {
      final List<State> all = states.get(number);
      boolean stays = true;
      for (int i = 0; i < all.size(); i++) {
        final boolean mayBe =
            all.get(i).begin < end && (i + 1 == all.size() || all.get(i + 1).end > start);
        stays &= !mayBe || (all.get(i).box != null && condition.test(all.get(i).box));
      }
      return stays;
    }

    /** No entry that stays nearer than the farthest of the answer is missing. */
    private ReadResult nearest() {
      final double x = random.nextDouble() * 100;
      final double y = random.nextDouble() * 100;
      final int limit = 1 + random.nextInt(12);
      final SpatialQuery query = SpatialQuery.near(x, y, 1, 1, Double.POSITIVE_INFINITY);
      final NearestEntries nearest = new NearestEntries(query, limit, 1 << 20);
      final long start = log.applied();
      final ReadResult result =
          search(
              new SpatialSearch(query),
              (array, key, keyLength, valueLength, of, deadline) -> {
                nearest.add(array, key, keyLength, valueLength, of, deadline);
                return random.nextInt(20) != 0;
              });
      final long end = log.applied();
      if (isOver(result, start) || end >= closed || result != ReadResult.ABSENT) {
        return result;
      }
      final Map<Integer, Long> versions = new HashMap<>();
      double farthest = 0;
      for (final Neighbor neighbor : nearest.response(1).getNeighborsList()) {
        final ByteString id = neighbor.getEntry().getKey();
        note(
            versions,
            id.concat(neighbor.getEntry().getValue()),
            id.size(),
            neighbor.getEntry().getVersion());
        assertTrue(neighbor.getDistance() >= farthest, "order");
        farthest = neighbor.getDistance();
      }
      versions.forEach((number, of) -> history.saw(number, of, start, end));
      assertEquals(limit, versions.size());
      final double square = farthest * farthest * (1 - 1e-9);
      for (int i = 0; i < ENTRIES; i++) {
        final int number = i;
        final boolean stays =
            stays(i, b -> query.square(b[0], b[1], b[2], b[3]) < square, start, end);
        assertTrue(!stays || versions.containsKey(i), () -> "missing near: e" + number);
      }
      return result;
    }
  }

  @ParameterizedTest
  @CsvSource({"false, false", "true, false", "false, true", "true, true"})
  void whatStaysIsFoundOnceAndNothingTwice(boolean posted, boolean expiring) {
    System.out.println("ringfetch.seed=" + SEED);
    final Map<ReadResult, Integer> counts = new EnumMap<>(ReadResult.class);
    for (int w = 0; w < WORLDS; w++) {
      final long seed = SEED * 1_000_003 + w;
      try {
        final World world = new World(seed, posted, expiring);
        for (int i = 0; i < READS; i++) {
          counts.merge(world.read(), 1, Integer::sum);
        }
        world.hasEnded = true;
        for (int over = 0; over < READS_AFTER_END; ) {
          counts.merge(world.read(), 1, Integer::sum);
          over += world.closed <= world.log.applied() ? 1 : 0;
        }
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError("seed=" + seed + " posted=" + posted + " ending=" + expiring, e);
      }
    }
    System.out.println("posted=" + posted + " expiring=" + expiring + " " + counts);
    final int undecided = counts.getOrDefault(ReadResult.UNDECIDED, 0);
    assertTrue(counts.get(ReadResult.ABSENT) > 5 * undecided, counts::toString);
    assertTrue(counts.get(ReadResult.FOUND) > 0, counts::toString);
    assertTrue(counts.get(ReadResult.CLOSED) > 0, counts::toString);
  }
}
