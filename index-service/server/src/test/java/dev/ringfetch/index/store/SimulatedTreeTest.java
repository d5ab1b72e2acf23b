package dev.ringfetch.index.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.Found;
import dev.ringfetch.index.layout.OrderedReader;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.layout.Reads;
import dev.ringfetch.index.layout.ScanCursor;
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
  private static final int WORLDS =
      Integer.getInteger("ringfetch.worlds", Integer.getInteger("ringfetch.hunt", 0) == 0 ? 8 : 16);
  private static final int READS_AFTER_END = 5;
  private static final int KEYS = 300;

  /** Keys that are written and read more often. */
  private static final int HOT = 3;

  private static final class World {
    final Random random;
    final StoreLog log;
    final LoggedMemory logged;
    final OrderedIndex index;
    final OrderedStore store;
    final OrderedReader reader;
    final ScanChecker checker = new ScanChecker();
    final StateHistory history = new StateHistory(KEYS);
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

    /** Null if no entry has a deadline. */
    final EndingEntries ending;

    World(long seed, boolean ordered, boolean expiring) {
      random = new Random(seed);
      sameHead = random.nextBoolean();
      left = 300 + random.nextInt(1200);
      log = new StoreLog(random, this::operate);
      logged = new LoggedMemory(log, seed);
      index = new OrderedIndex(logged.memory);
      store = index.partition(0);
      final Reads reads = ordered ? logged.liveReads() : logged.copyingReads(random);
      reader = new OrderedReader(reads, index.location(), random.nextBoolean() ? 0 : 4);
      ending = expiring ? new EndingEntries(store.expiry(), random, KEYS) : null;
      for (int i = 0; i < KEYS; i++) {
        if (random.nextInt(3) > 0) {
          put(i);
        }
      }
      log.flush();
    }

    private ByteString key(int number) {
      return ByteString.copyFromUtf8((sameHead ? "the same " : "") + String.format("%04d", number));
    }

    private static ByteString value(int key, long version) {
      return ByteString.copyFromUtf8(
          key + ":" + version + "-".repeat((int) (version * 31 % 3) * 4));
    }

    private void put(int number) {
      final ByteString value = value(number, ++version);
      final long deadline = ending == null ? 0 : ending.choose(number);
      assertEquals(0, store.reserve(key(number).size(), value.size(), deadline != 0));
      final long begin = log.appended();
      store.put(key(number), value, version, deadline);
      became(number, version, begin);
      present[number] = true;
    }

    private void became(int number, long newVersion, long begin) {
      history.became(number, newVersion, begin, log.appended());
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
      if (ending != null && random.nextInt(4) == 0) {
        end(random.nextInt(30));
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
        if (ending == null || !ending.hasEnded(at)) {
          became(at, 0, begin);
        }
        if (ending != null) {
          ending.removed(at);
        }
        present[at] = false;
      }
    }

    /** Ends entries by a tick, and removes some that have ended. */
    private void end(int removals) {
      final long begin = log.appended();
      ending.tick(number -> became(number, 0, begin));
      for (int i = 0; i < removals; i++) {
        ending.remove(store, this::number, number -> present[number] = false);
      }
    }

    private int number(ByteString key) {
      final String text = key.toStringUtf8();
      return Integer.parseInt(text.substring(text.length() - 4));
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
        final OrderedStore other = new OrderedIndex(logged.memory).partition(0);
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
      if (random.nextInt(4) == 0) {
        return batchGet();
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
      return check(number, result, found, start);
    }

    /** Each key on its own, though their reads go together. */
    private ReadResult batchGet() {
      final int count = 1 + random.nextInt(80);
      final List<Integer> numbers = new ArrayList<>();
      final List<ByteString> keys = new ArrayList<>();
      final Found[] founds = new Found[count];
      final int first = random.nextInt(KEYS);
      for (int i = 0; i < count; i++) {
        numbers.add((first + i * 7) % KEYS); // each of them once
        keys.add(key(numbers.get(i)));
        founds[i] = new Found();
      }
      final ReadResult[] results = new ReadResult[count];
      final long start = log.applied();
      reader.batchGet(keys, founds, results);
      for (int i = 0; i < count; i++) {
        check(numbers.get(i), results[i], founds[i], start);
      }
      return results[0];
    }

    private ReadResult check(int number, ReadResult result, Found value, long start) {
      final long end = log.applied();
      if (isOver(result, start, end)) {
        return result;
      }
      final long answer = result == ReadResult.FOUND ? value.version() : 0;
      if (result == ReadResult.FOUND) {
        assertEquals(value(number, answer), value.value());
      } else {
        assertEquals(ReadResult.ABSENT, result);
      }
      history.saw(number, answer, start, end);
      return result;
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
                (array, keyOffset, keyLength, valueLength, entryVersion, deadline) -> {
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
    run(ordered, false);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void answersAreOfTheReadWithDeadlines(boolean ordered) {
    run(ordered, true);
  }

  private static void run(boolean ordered, boolean expiring) {
    System.out.println("ringfetch.seed=" + SEED);
    int all = 0;
    final Map<ReadResult, Integer> counts = new EnumMap<>(ReadResult.class);
    for (int w = 0; w < WORLDS; w++) {
      final long seed = SEED * 1_000_003 + w;
      try {
        final World world = new World(seed, ordered, expiring);
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
