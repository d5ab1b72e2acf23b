package dev.ringfetch.index.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.Found;
import dev.ringfetch.index.layout.HashLocation;
import dev.ringfetch.index.layout.HashReader;
import dev.ringfetch.index.layout.KeyHash;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.layout.Reads;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Runs an owner and a reader of a partition word by word: between any two loads of the reader, some
 * stores of the owner arrive. Each answer must be that of a state which the key had within the
 * read, and none of an earlier state than the answer before.
 */
class SimulatedOwnerTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 26);
  private static final int WORLDS =
      Integer.getInteger(
          "ringfetch.worlds", Integer.getInteger("ringfetch.hunt", 0) == 0 ? 25 : 60);

  /** A world in which a reader comes between the copy of a group and the moment it goes live. */
  private static final long RARE = 3_000_102;

  private static final int READS_AFTER_END = 10;
  private static final int KEYS = 240;
  private static final int HOT = 8;

  private static final class World {
    final Random random;
    final StoreLog log;
    final LoggedMemory logged;
    final Reads reads;
    final HashLocation location;
    HashReader reader;
    final List<ByteString> keys = new ArrayList<>();
    final StateHistory history = new StateHistory(KEYS);
    final Found found = new Found();
    final int life;
    HashIndex index;
    PartitionStore store;
    int operations;
    long version;

    /** Number of stores after which nothing may be read any more. */
    long closed = Long.MAX_VALUE;

    /** Null if no entry has a deadline. */
    final EndingEntries ending;

    World(long seed, boolean ordered, boolean expiring) {
      random = new Random(seed);
      log = new StoreLog(random, this::operate);
      logged = new LoggedMemory(log, seed);
      index = new HashIndex(logged.memory, 1);
      store = index.partition(0);
      reads = ordered ? logged.liveReads() : logged.copyingReads(random);
      location = index.location();
      reader = new HashReader(reads, location);
      life = 500 + random.nextInt(4000);
      chooseKeys();
      ending = expiring ? new EndingEntries(store.expiry(), random, KEYS) : null;
      log.flush();
    }

    /** The hot keys have a fingerprint in common, and buckets while there are few groups. */
    private void chooseKeys() {
      int common = 0;
      for (int i = 0; i < KEYS; i++) {
        ByteString key;
        do {
          key = Memories.bytes(random, 4 + random.nextInt(8));
          final long hash = KeyHash.of(key.toByteArray(), 0, key.size(), index.location().seed());
          final int both =
              (KeyHash.fingerprint(hash) << 2)
                  | (KeyHash.side(KeyHash.half(hash, 0)) << 1)
                  | KeyHash.side(KeyHash.half(hash, 1));
          if (i == 0) {
            common = both;
          }
          if (i >= HOT || both == common) {
            break;
          }
        } while (true);
        keys.add(key);
      }
    }

    private int key() {
      return random.nextInt(3) == 0 ? random.nextInt(KEYS) : random.nextInt(HOT);
    }

    /** One operation of the owner. */
    private void operate() {
      if (++operations >= life) {
        end();
        return;
      }
      final int key = key();
      final long begin = log.appended();
      if (ending != null && random.nextInt(3) == 0) {
        ending.remove(store, keys::indexOf, removed -> {});
        final long ticked = log.appended();
        ending.tick(ended -> history.became(ended, 0, ticked, log.appended()));
      } else if (random.nextInt(3) == 0) {
        final boolean hadEnded = ending != null && ending.hasEnded(key);
        if (store.delete(keys.get(key)) && !hadEnded) {
          history.became(key, 0, begin, log.appended());
        }
        if (ending != null) {
          ending.removed(key);
        }
      } else {
        final ByteString value = value(key, ++version);
        final long deadline = ending == null ? 0 : ending.choose(key);
        assertEquals(0, store.reserve(keys.get(key).size(), value.size(), deadline != 0));
        store.put(keys.get(key), value, version, deadline);
        history.became(key, version, begin, log.appended());
      }
      if (random.nextInt(4) == 0) {
        store.grow();
      }
    }

    private static ByteString value(int key, long version) {
      return ByteString.copyFromUtf8(
          key + ":" + version + "-".repeat((int) (version * 31 % 3) * 4 + 8 - (key & 7)));
    }

    /** Moves the gate and takes the memory away, or drops the index and fills another one. */
    private void end() {
      if (closed == Long.MAX_VALUE && random.nextBoolean()) {
        logged.gate.putLongRelease(0, Memories.INCARNATION + 1);
        closed = log.appended();
        logged.gate.fullFence();
        if (random.nextBoolean()) {
          return; // an old server's memory may well stay
        }
        logged.clear();
        return;
      }
      if (closed == Long.MAX_VALUE) {
        final long before = log.appended();
        index.drop();
        closed = before + 1;
        index = new HashIndex(logged.memory, 1);
        store = index.partition(0);
      }
      if (store.count() < KEYS && logged.gate.getLong(0) == Memories.INCARNATION) {
        // Versions that the dropped index never had.
        final int key = random.nextInt(KEYS);
        final ByteString value = value(key, 1_000_000 + ++version);
        assertEquals(0, store.reserve(keys.get(key).size(), value.size()));
        store.put(keys.get(key), value, 1_000_000 + version);
      }
    }

    boolean hasEnded() {
      return closed <= log.applied();
    }

    /** Reads a key, often once more while no stores arrive: the state may not go back. */
    ReadResult read() {
      final int key = key();
      if (random.nextInt(3) == 0) {
        reader = new HashReader(reads, location);
      }
      final ReadResult result = read(key);
      if (random.nextBoolean()) {
        log.freeze(true);
        read(key);
        log.freeze(false);
      }
      return result;
    }

    private ReadResult read(int key) {
      final long start = log.applied();
      final ReadResult result = reader.get(keys.get(key), found);
      final long end = log.applied();
      final String where = "operations=" + operations + " key=" + key + " result=" + result;
      if (result == ReadResult.CLOSED) {
        assertTrue(end >= closed, where);
        return result;
      }
      if (result == ReadResult.UNDECIDED) {
        return result;
      }
      assertTrue(start < closed, () -> "after the end: " + where);
      long answer = 0;
      if (result == ReadResult.FOUND) {
        answer = found.version();
        assertEquals(value(key, answer), found.value(), where);
      } else {
        assertEquals(ReadResult.ABSENT, result);
      }
      history.saw(key, answer, start, end);
      return result;
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void answersAreOfTheRead(boolean ordered) {
    final Map<ReadResult, Integer> counts = run(ordered, false);
    if (!ordered) {
      assertEquals(null, counts.get(ReadResult.ABSENT));
    }
  }

  /** That an entry has ended, loads in any order can show as well. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void answersAreOfTheReadWithDeadlines(boolean ordered) {
    final Map<ReadResult, Integer> counts = run(ordered, true);
    assertTrue(counts.get(ReadResult.ABSENT) > 0, counts::toString);
  }

  private static Map<ReadResult, Integer> run(boolean ordered, boolean expiring) {
    System.out.println("ringfetch.seed=" + SEED);
    int all = 0;
    final Map<ReadResult, Integer> counts = new EnumMap<>(ReadResult.class);
    for (int w = 0; w <= WORLDS; w++) {
      final long seed = w < WORLDS ? SEED * 1_000_003 + w : RARE;
      try {
        final World world = new World(seed, ordered, expiring);
        int reads = 0;
        for (int ended = 0; ended < READS_AFTER_END; ended += world.hasEnded() ? 1 : 0) {
          counts.merge(world.read(), 1, Integer::sum);
          reads++;
        }
        all += reads;
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError("world seed=" + seed + " ordered=" + ordered, e);
      }
    }
    System.out.println("ordered=" + ordered + " " + counts);
    assertTrue(counts.get(ReadResult.FOUND) > all / 8, counts::toString);
    assertTrue(counts.get(ReadResult.CLOSED) > 0, counts::toString);
    if (ordered) {
      assertTrue(counts.get(ReadResult.ABSENT) > all / 8, counts::toString);
      assertTrue(counts.getOrDefault(ReadResult.UNDECIDED, 0) < all / 4, counts::toString);
    }
    return counts;
  }
}
