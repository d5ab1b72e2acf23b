package dev.ringfetch.index.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.index.layout.Found;
import dev.ringfetch.index.layout.OrderedReader;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.layout.Reads;
import dev.ringfetch.index.layout.ScanCursor;
import dev.ringfetch.index.layout.SegmentReads;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Runs the owner and a reader of an ordered index word by word: between any two loads of the
 * reader, some stores of the owner arrive, plain ones in another order. Gets must be linearizable,
 * scans keep their contract; with copies that a card makes as well, of words of different moments.
 */
class SimulatedTreeTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 26);
  private static final int WORLDS = Integer.getInteger("ringfetch.worlds", 16);
  private static final int READS_AFTER_END = 5;
  private static final int KEYS = 300;

  /** Keys that are written and read more often. */
  private static final int HOT = 3;

  private static final int SEGMENT_SHIFT = 16;

  /** A state of a key: it ends the one before within the stores from begin to end. */
  private record State(long version, long begin, long end) {}

  private static final class World implements SegmentReads.Segments {
    final Random random;
    final StoreLog log;
    final List<StoreLog.Region> regions = new ArrayList<>();
    final StoreLog.Region gate;
    final StoreMemory memory;
    final OrderedIndex index;
    final OrderedStore store;
    final OrderedReader reader;
    final ScanChecker checker = new ScanChecker();
    final List<List<State>> history = new ArrayList<>();
    final int[] last = new int[KEYS];
    final boolean[] present = new boolean[KEYS];
    final Found found = new Found();
    final boolean sameHead;
    int left;
    int run;
    int at;
    boolean deletes;
    long version;

    /** Number of stores after which nothing may be read any more. */
    long closed = Long.MAX_VALUE;

    World(long seed, boolean ordered) {
      random = new Random(seed);
      sameHead = random.nextBoolean();
      left = 300 + random.nextInt(1200);
      log = new StoreLog(random, this::operate);
      gate = log.new Region(64);
      gate.putLongRelease(0, Memories.INCARNATION);
      memory =
          Memories.serving(
              new StoreMemory.Context()
                  .segmentSource(this::grow)
                  .segmentLength(1 << SEGMENT_SHIFT)
                  .budget(1 << 20)
                  .gate(gate, 0)
                  .incarnation(Memories.INCARNATION)
                  .seed(seed));
      index = new OrderedIndex(memory);
      store = index.partition(0);
      final Reads reads =
          ordered
              ? new SegmentReads(this, SEGMENT_SHIFT, gate.shown(), 0)
              : new PostedReads(random, this, SEGMENT_SHIFT, gate.shown());
      reader = new OrderedReader(reads, index.location(), random.nextBoolean() ? 0 : 4);
      for (int i = 0; i < KEYS; i++) {
        history.add(new ArrayList<>(List.of(new State(0, -1, -1))));
      }
      for (int i = 0; i < KEYS; i++) {
        if (random.nextInt(3) > 0) {
          put(i);
        }
      }
      log.flush();
    }

    private MemoryRegion grow(int length) {
      final StoreLog.Region region = log.new Region(length);
      regions.add(region);
      return region;
    }

    @Override
    public MemoryRegion segment(long number) {
      return number >= 0 && number < regions.size() ? regions.get((int) number).shown() : null;
    }

    private ByteString key(int number) {
      return ByteString.copyFromUtf8((sameHead ? "the same " : "") + String.format("%04d", number));
    }

    private static ByteString value(int key, long version) {
      return ByteString.copyFromUtf8(key + ":" + version + "-".repeat((int) (version * 31 % 3) * 4));
    }

    private void put(int number) {
      final ByteString value = value(number, ++version);
      assertEquals(0, store.reserve(key(number).size(), value.size()));
      final long begin = log.appended();
      store.put(key(number), value, version);
      became(number, version, begin);
      present[number] = true;
    }

    private void became(int number, long newVersion, long begin) {
      history.get(number).add(new State(newVersion, begin, log.appended()));
      checker.became(key(number), newVersion, begin, log.appended());
    }

    /** One operation of the owner: mostly one of a run, which empties leaves or fills them. */
    private void operate() {
      if (--left <= 0) {
        end();
        return;
      }
      if (random.nextInt(3) == 0) {
        put(random.nextInt(HOT));
        return;
      }
      if (run == 0) {
        run = 1 << random.nextInt(8);
        at = random.nextInt(KEYS);
        deletes = random.nextBoolean();
      }
      run--;
      at = (at + 1) % KEYS;
      if (!deletes) {
        put(at);
      } else if (present[at]) {
        final long begin = log.appended();
        assertTrue(store.delete(key(at)));
        became(at, 0, begin);
        present[at] = false;
      }
    }

    /** Moves the gate and fills the memory with something else, or drops the index. */
    private void end() {
      if (closed != Long.MAX_VALUE) {
        return;
      }
      if (random.nextBoolean()) {
        gate.putLongRelease(0, Memories.INCARNATION + 1);
        closed = log.appended();
        gate.fullFence();
        for (StoreLog.Region region : List.copyOf(regions)) {
          for (int i = 0; i < region.length(); i += 8) {
            if (region.getLong(i) != 0) {
              region.putLong(i, 0);
            }
          }
        }
      } else {
        closed = log.appended() + 1;
        index.drop();
        final OrderedStore other = new OrderedIndex(memory).partition(0);
        for (int i = 0; i < 100; i++) { // versions that the dropped index never had
          assertEquals(0, other.reserve(key(i).size(), 3));
          other.put(key(i), ByteString.copyFromUtf8("new"), 1_000_000 + i);
        }
      }
    }

    boolean hasEnded() {
      return closed <= log.applied();
    }

    ReadResult read() {
      if (random.nextInt(4) == 0) {
        return scan();
      }
      final int number = random.nextInt(random.nextBoolean() ? HOT : KEYS);
      final ReadResult result = get(number);
      if (random.nextInt(4) == 0) { // once more while no stores arrive: the state may not go back
        log.freeze(true);
        get(number);
        log.freeze(false);
      }
      return result;
    }

    private ReadResult get(int number) {
      final long start = log.applied();
      final ReadResult result = reader.get(key(number), found);
      final long end = log.applied();
      if (isOver(result, start, end)) {
        return result;
      }
      final long answer = result == ReadResult.FOUND ? found.version() : 0;
      if (result == ReadResult.FOUND) {
        assertEquals(value(number, answer), found.value());
      } else {
        assertEquals(ReadResult.ABSENT, result);
      }
      final List<State> states = history.get(number);
      int state = last[number];
      while (state < states.size() && !isWithin(states, state, answer, start, end)) {
        state++;
      }
      if (state == states.size()) {
        throw new AssertionError(
            String.format(
                "key=%d version=%d start=%d end=%d last=%d states=%s",
                number, answer, start, end, last[number], states));
      }
      last[number] = state;
      return result;
    }

    private static boolean isWithin(
        List<State> states, int number, long version, long start, long end) {
      return states.get(number).version() == version
          && states.get(number).begin() < end
          && (number + 1 == states.size() || states.get(number + 1).end() > start);
    }

    private boolean isOver(ReadResult result, long start, long end) {
      if (result == ReadResult.CLOSED) {
        assertTrue(end >= closed, "closed=" + closed + " end=" + end);
        return true;
      }
      if (result == ReadResult.UNDECIDED) {
        return true;
      }
      assertTrue(start < closed, "after the end: closed=" + closed + " start=" + start);
      return false;
    }

    private ReadResult scan() {
      final boolean reverse = random.nextBoolean();
      final int from = random.nextInt(KEYS);
      final ByteString start = random.nextInt(4) == 0 ? ByteString.EMPTY : key(from);
      final ByteString end =
          random.nextInt(4) == 0 ? ByteString.EMPTY : key(from + 1 + random.nextInt(KEYS - from));
      final ScanCursor cursor =
          reverse ? ScanCursor.reverse(start, end) : ScanCursor.forward(start, end);
      final List<ScanChecker.Result> results = new ArrayList<>();
      final long begin = log.applied();
      ReadResult result = ReadResult.UNDECIDED;
      for (int i = 0; i < 20 && result == ReadResult.UNDECIDED; i++) {
        result =
            reader.scan(
                cursor,
                (array, keyOffset, keyLength, valueLength, entryVersion) -> {
                  results.add(
                      new ScanChecker.Result(
                          ByteString.copyFrom(array, keyOffset, keyLength), entryVersion));
                  return true;
                });
      }
      final long finish = log.applied();
      if (!isOver(result, begin, finish) && finish < closed) {
        assertEquals(ReadResult.ABSENT, result);
        checker.check(new ScanChecker.Scan(reverse, start, end, results, begin, finish));
      }
      return result;
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void answersAreOfTheRead(boolean ordered) {
    System.out.println("ringfetch.seed=" + SEED);
    int all = 0;
    final Map<ReadResult, Integer> counts = new EnumMap<>(ReadResult.class);
    for (int w = 0; w < WORLDS; w++) {
      final long seed = SEED * 1_000_003 + w;
      try {
        final World world = new World(seed, ordered);
        for (int ended = 0; ended < READS_AFTER_END; ended += world.hasEnded() ? 1 : 0) {
          counts.merge(world.read(), 1, Integer::sum);
          all++;
        }
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError("world seed=" + seed + " ordered=" + ordered, e);
      }
    }
    System.out.println("ordered=" + ordered + " " + counts);
    assertTrue(counts.get(ReadResult.FOUND) > all / 16, counts::toString);
    assertTrue(counts.get(ReadResult.ABSENT) > all / 16, counts::toString);
    assertTrue(counts.get(ReadResult.CLOSED) > 0, counts::toString);
    assertTrue(counts.getOrDefault(ReadResult.UNDECIDED, 0) < all / 2, counts::toString);
  }
}
