package dev.ringfetch.index.partition;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.Found;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.store.EntryStore;
import dev.ringfetch.index.store.StoredIndex;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Deadlines of one log under leaders on several hosts, whose wall clocks differ from the true time
 * and are set forward and back, before and after each start. The test knows the true time, and
 * holds the partition to what docs/time-to-live.md promises:
 *
 * <ul>
 *   <li>the log's clock never goes back, and an entry that was absent never comes back;
 *   <li>an entry ends early by no more than a wall clock was set forward during its life: it has
 *       its whole time under clocks that are steady, or are set back, or are behind the log's;
 *   <li>no entry is there when the leader's wall clock has come to its deadline, nor after its time
 *       under one leader;
 *   <li>a deadline is ahead by no more than the worst wall clock of any leader has been: where the
 *       leader's own is that, it is the time to live from this clock on, to the millisecond.
 * </ul>
 */
class ClockJumpsTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 46);
  private static final int WORLDS = 20;
  private static final int STEPS = 400;
  private static final int HOSTS = 3;
  private static final int KEYS = 6;
  private static final long TRUE_BEGIN = 1_800_000_000_000L;

  /** A record as the log keeps it. */
  private record Logged(long lsn, WriteKind kind, ByteString key, long time) {}

  /** An entry that was put: true times, and how wrong wall clocks were. */
  private static final class Life {
    private final long version;
    private final long deadline;
    private final long ttl;
    private final long putAt;
    private final int term; // the number of the leader that put it
    private long mostWrong; // of all leaders' wall clocks during its life
    private boolean ended;

    Life(Write put, long putAt, int term, long wrong) {
      version = put.version();
      deadline = put.deadline();
      ttl = put.ttlMs();
      this.putAt = putAt;
      this.term = term;
      mostWrong = Math.max(wrong, deadline - ttl - putAt);
    }
  }

  private static final class World implements CommitLog {
    private final Random random;
    private final boolean ordered;
    private final boolean behindOnly; // wall clocks are right, or behind, but never ahead
    private final List<Throwable> errors = new ArrayList<>();
    private final List<Logged> records = new ArrayList<>();
    private final Map<ByteString, Life> lives = new HashMap<>();
    private final long[] wrong = new long[HOSTS]; // what each wall clock is ahead of the true time
    private long trueMs = TRUE_BEGIN;
    private long mostWrong = Long.MIN_VALUE; // of all leaders' wall clocks
    private long clock;
    private int leader;
    private int term;
    private ManualTime time;
    private StoredIndex index;
    private Partition partition;
    int endedInTime;
    int endedEarly;
    int putByTheClock;

    World(long seed, boolean ordered) {
      random = new Random(seed);
      this.ordered = ordered;
      behindOnly = random.nextInt(3) == 0;
      for (int host = 0; host < HOSTS; host++) {
        wrong[host] = wrongness();
      }
      lead(0);
    }

    private long wrongness() {
      final long most = random.nextBoolean() ? 3_000 : 200_000;
      final long drawn = (long) (random.nextGaussian() * most);
      return random.nextInt(3) == 0 ? 0 : behindOnly ? -Math.abs(drawn) : drawn;
    }

    /** Begins a leader's term on a host, with the log of those before. */
    private void lead(int host) {
      leader = host;
      term++;
      time = new ManualTime(trueMs + wrong[host]);
      index = ProcessIndexes.create(ordered);
      final EntryStore store = index.partition(0);
      for (final Logged record : records) {
        switch (record.kind()) {
          case TICK -> store.expiry().advance(record.time());
          case DELETE -> store.delete(record.key());
          default -> {
            assertEquals(0, store.reserve(record.key().size(), 0, record.time() != 0));
            store.put(record.key(), ByteString.EMPTY, record.lsn(), record.time());
          }
        }
      }
      partition =
          new Partition(store, this, 64, new OwnerContext(errors::add, Handover.never(), time));
      noteClock();
    }

    @Override
    public long append(Write write) {
      final long lsn = committed() + 1;
      records.add(new Logged(lsn, write.kind(), write.key(), write.deadline()));
      return lsn;
    }

    @Override
    public long committed() {
      return records.size();
    }

    @Override
    public boolean isImmediate() {
      return true;
    }

    @Override
    public void onCommit(Runnable listener) {}

    private void noteClock() {
      mostWrong = Math.max(mostWrong, wrong[leader]);
      lives.values().forEach(life -> life.mostWrong = Math.max(life.mostWrong, wrong[leader]));
    }

    void step() {
      switch (random.nextInt(12)) {
        case 0, 1, 2, 3 -> put();
        case 4, 5 -> pass(random.nextInt(20));
        case 6, 7 -> pass(random.nextInt(5_000));
        case 8 -> pass(random.nextInt(200_000));
        case 9 -> { // somebody sets a clock
          final int host = random.nextInt(HOSTS);
          final long now = wrongness();
          if (host == leader) {
            time.set(now - wrong[host]);
          }
          wrong[host] = now;
          noteClock();
        }
        case 10 -> { // kill -9, and a start on the same host
          trueMs += random.nextInt(random.nextBoolean() ? 100 : 50_000);
          lead(leader);
        }
        default -> lead(random.nextInt(HOSTS)); // a fail-over
      }
      look();
      assertEquals(List.of(), errors);
    }

    private void pass(long millis) {
      trueMs += millis;
      time.pass(millis);
    }

    private void put() {
      final ByteString key = ByteString.copyFromUtf8("key " + random.nextInt(KEYS));
      final long ttl = 1L + random.nextInt(random.nextBoolean() ? 300 : 100_000);
      final Write put = new Write(answer -> {}).put(key, ByteString.EMPTY).ttl(ttl);
      assertEquals(0, partition.submit(put));
      assertEquals(Write.DONE, put.outcome());
      final long ahead = put.deadline() - ttl - trueMs;
      assertTrue(ahead >= wrong[leader] && ahead <= mostWrong, () -> "ahead=" + ahead);
      putByTheClock += wrong[leader] == mostWrong ? 1 : 0;
      lives.put(key, new Life(put, trueMs, term, wrong[leader]));
    }

    private void look() {
      assertEquals(0, partition.submit(new Write(answer -> {}).tick()));
      final long before = clock;
      clock = index.partition(0).expiry().clock();
      assertTrue(clock >= before, "the clock goes back");
      final Found found = new Found();
      lives.forEach(
          (key, life) -> {
            final ReadResult result = index.newReader().get(key, found);
            final Write read = new Write(answer -> {}).read(key);
            assertEquals(0, partition.submit(read));
            assertEquals(result == ReadResult.FOUND, read.entry() != null, "readers disagree");
            if (result == ReadResult.FOUND) {
              assertEquals(life.version, found.version());
              isThere(life);
            } else {
              isAbsent(life);
            }
          });
    }

    private void isThere(Life life) {
      assertTrue(!life.ended, "an entry came back");
      assertTrue(trueMs + wrong[leader] < life.deadline, "late by the wall clock");
      assertTrue(term != life.term || trueMs < life.putAt + life.ttl, "later than its time");
    }

    private void isAbsent(Life life) {
      if (life.ended) {
        return;
      }
      life.ended = true;
      assertTrue(trueMs >= life.deadline - life.mostWrong, "early");
      if (trueMs >= life.putAt + life.ttl) {
        endedInTime++;
      } else {
        endedEarly++;
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void deadlinesKeepTheirPromises(boolean ordered) {
    System.out.println("ringfetch.seed=" + SEED);
    int endedInTime = 0;
    int endedEarly = 0;
    int putByTheClock = 0;
    for (int w = 0; w < WORLDS; w++) {
      final long seed = SEED * 1_000_003 + w;
      try {
        final World world = new World(seed, ordered);
        for (int i = 0; i < STEPS; i++) {
          world.step();
        }
        endedInTime += world.endedInTime;
        endedEarly += world.endedEarly;
        putByTheClock += world.putByTheClock;
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError("world seed=" + seed + " ordered=" + ordered, e);
      }
    }
    System.out.println(
        "in time=" + endedInTime + " early=" + endedEarly + " by the clock=" + putByTheClock);
    assertTrue(endedInTime > WORLDS * 10, "in time=" + endedInTime);
    assertTrue(endedEarly > WORLDS, "early=" + endedEarly);
    assertTrue(putByTheClock > WORLDS, "by the clock=" + putByTheClock);
  }
}
