package dev.ringfetch.index.partition;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.Found;
import dev.ringfetch.index.layout.OrderedReader;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.layout.ScanCursor;
import dev.ringfetch.index.store.EntryStore;
import dev.ringfetch.index.store.StoredIndex;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Compares a partition with a map that has deadlines, and is made of the records of its log alone:
 * of all that are appended for validation, of all that are committed for readers. Time goes on in
 * steps of all lengths; the host's clock is set back and forward while the server runs, and where
 * it ends and starts again, with any part of what was not committed.
 */
class ExpiryModelTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 30);
  private static final int WORLDS = 25;
  private static final int STEPS = 600;
  private static final int KEYS = 12;
  private static final long NOW = 1_000_000_000L;

  /** A record as the log keeps it. */
  private record Logged(
      long lsn, WriteKind kind, ByteString key, ByteString value, long time, boolean expired) {}

  /** An entry as the map has it. */
  private record Kept(long version, ByteString value, long deadline) {}

  /** What records say: entries, also those that have ended and are not removed, and the clock. */
  private static final class State {
    private final Map<String, Kept> entries = new TreeMap<>();
    private long clock;

    /** The entry of a key; null if it is absent, or has ended. */
    Kept get(ByteString key) {
      final Kept kept = entries.get(key.toStringUtf8());
      return kept == null || (kept.deadline() != 0 && kept.deadline() <= clock) ? null : kept;
    }

    long version(ByteString key) {
      final Kept kept = get(key);
      return kept == null ? 0 : kept.version();
    }

    void apply(Logged record) {
      final String key = record.key().toStringUtf8();
      switch (record.kind()) {
        case TICK -> {
          assertTrue(record.time() > clock, "the clock goes back");
          clock = record.time();
        }
        case DELETE -> {
          final Kept removed = entries.remove(key);
          assertTrue(removed != null, "a removal of nothing");
          if (record.expired()) {
            assertTrue(removed.deadline() != 0 && removed.deadline() <= clock, "removed too early");
          }
        }
        default -> {
          assertTrue(record.time() == 0 || record.time() > clock, "an entry that has ended");
          entries.put(key, new Kept(record.lsn(), record.value(), record.time()));
        }
      }
    }
  }

  private static final class World implements CommitLog {
    private final Random random;
    private final boolean ordered;
    private final List<Throwable> errors = new ArrayList<>();
    private final List<Logged> records = new ArrayList<>();
    private State appended = new State();
    private State committed = new State();
    private int committedCount;
    private Runnable listener;
    private ManualTime time = new ManualTime(NOW);
    private StoredIndex index;
    private Partition partition;
    private long usedMs; // the latest time that a record has used
    private long usedAtMs; // the running time then
    private int values;
    private boolean refuses; // some records, as a full log
    int answers;
    int ended;

    World(long seed, boolean ordered) {
      random = new Random(seed);
      this.ordered = ordered;
      open();
    }

    private void open() {
      index = ProcessIndexes.create(ordered);
      final EntryStore store = index.partition(0);
      for (final Logged record : records) { // as the replay of a journal
        switch (record.kind()) {
          case TICK -> store.expiry().advance(record.time());
          case DELETE -> store.delete(record.key());
          default -> {
            final int key = record.key().size();
            assertEquals(0, store.reserve(key, record.value().size(), record.time() != 0));
            store.put(record.key(), record.value(), record.lsn(), record.time());
          }
        }
      }
      usedMs = appended.clock;
      usedAtMs = runningMs();
      partition =
          new Partition(store, this, 64, new OwnerContext(errors::add, Handover.never(), time));
      final Write tick = new Write(write -> {}).tick(); // as a server does at its start
      refuses = false;
      assertEquals(0, partition.submit(tick));
      refuses = true;
      commit(records.size());
      assertEquals(Write.DONE, tick.outcome());
    }

    private long runningMs() {
      return time.runningNs() / 1_000_000;
    }

    private long nowMs() {
      return Math.max(time.wallMs(), usedMs + runningMs() - usedAtMs);
    }

    private void use() {
      usedMs = nowMs();
      usedAtMs = runningMs();
    }

    @Override
    public long append(Write write) {
      if (refuses && random.nextInt(50) == 0) {
        return FULL;
      }
      final long lsn = records.isEmpty() ? 1 : records.get(records.size() - 1).lsn() + 1;
      final long deadline = write.deadline();
      if (write.kind() == WriteKind.TICK) {
        assertEquals(nowMs(), deadline, "a tick of another time");
      } else if (write.ttlMs() != 0) {
        assertEquals(nowMs() + write.ttlMs(), deadline);
      }
      final Logged record =
          new Logged(lsn, write.kind(), write.key(), write.value(), deadline, write.isExpired());
      final boolean isOfPut = // the clock was too old for its deadline: it comes before the write
          write.kind() == WriteKind.TICK && nowMs() - appended.clock > ExpiryCycle.WRITE_TICK_MS;
      if (write.kind() == WriteKind.TICK) {
        use();
      }
      records.add(record);
      appended.apply(record);
      if (isOfPut && submitted != null && submitted.ttlMs() != 0) {
        expect(submitted);
      }
      ended += write.isExpired() ? 1 : 0;
      return lsn;
    }

    @Override
    public long committed() {
      return committedCount == 0 ? 0 : records.get(committedCount - 1).lsn();
    }

    @Override
    public void onCommit(Runnable commits) {
      listener = commits;
    }

    /** Commits so many records, as far as there are more. */
    private void commit(int count) {
      for (int i = 0; i < count && committedCount < records.size(); i++) {
        committed.apply(records.get(committedCount++));
      }
      listener.run();
    }

    void step() {
      switch (random.nextInt(10)) {
        case 0, 1, 2, 3 -> write();
        case 4 -> commit(1 + random.nextInt(5));
        case 5 -> commit(records.size());
        case 6 -> pass(random.nextInt(5));
        case 7 -> {
          pass(random.nextInt(random.nextInt(20) == 0 ? 100_000 : 200));
          if (random.nextInt(10) == 0) {
            time.set(random.nextInt(400_000) - 200_000);
          }
        }
        case 8 -> settle();
        default -> {
          if (random.nextInt(10) == 0) {
            restart();
          }
        }
      }
      read();
      assertEquals(List.of(), errors);
    }

    private void pass(long millis) {
      time.pass(millis);
    }

    private ByteString key() {
      return ByteString.copyFromUtf8("key " + (char) ('a' + random.nextInt(KEYS)));
    }

    private long ttl() {
      return switch (random.nextInt(4)) {
        case 0 -> 0;
        case 1 -> 1 + random.nextInt(5);
        case 2 -> 1 + random.nextInt(300);
        default -> 1 + random.nextInt(100_000);
      };
    }

    /** A write, and what its answer must be: by the records before, once these are committed. */
    private void write() {
      final ByteString key = key();
      final ByteString value = ByteString.copyFromUtf8("value " + ++values);
      final int kind = random.nextInt(5);
      final Write[] own = {null};
      own[0] = new Write(answer -> answered(answer, key, kind));
      switch (kind) {
        case 0, 1 -> own[0].put(key, value).ttl(ttl());
        case 2 -> own[0].delete(key);
        case 3 ->
            own[0]
                .compareAndSet(key, random.nextInt(3) == 0 ? 0 : appended.version(key), value)
                .ttl(ttl());
        default -> own[0].read(key);
      }
      submitted = own[0];
      if (submitted.ttlMs() != 0) {
        use();
      }
      expect(submitted);
      assertEquals(0, partition.submit(own[0]));
      submitted = null;
    }

    private void expect(Write write) {
      final Kept found = appended.get(write.key());
      pending.put(write, new Expected(found, records.size(), write.expectedVersion()));
    }

    /** What a write finds, and how many records its answer may tell of. */
    private record Expected(Kept found, int records, long expectedVersion) {}

    private Write submitted; // being submitted, and not answered
    private final IdentityHashMap<Write, Expected> pending = new IdentityHashMap<>();

    private void answered(Write write, ByteString key, int kind) {
      final Expected of = pending.remove(write);
      submitted = submitted == write ? null : submitted;
      if (write.outcome() != Write.DONE) {
        assertEquals(Write.LOG_FULL, write.outcome());
        return;
      }
      answers++;
      final Kept found = of.found();
      final long version = found == null ? 0 : found.version();
      if (write.version() != 0) {
        assertTrue(write.version() <= committed(), "answered before its commit");
      }
      switch (kind) {
        case 0, 1 -> assertEquals(found == null, write.created());
        case 2 -> assertEquals(found != null, write.existed());
        case 3 -> {
          assertEquals(version == of.expectedVersion(), write.applied());
          if (!write.applied()) {
            assertEquals(version, write.entry() == null ? 0 : write.entry().getVersion());
          }
        }
        default -> {
          assertEquals(version, write.entry() == null ? 0 : write.entry().getVersion());
          if (found != null) {
            assertEquals(found.deadline(), write.entry().getDeadlineMs());
            assertEquals(found.value(), write.entry().getValue());
          }
        }
      }
      if (write.version() == 0) { // it rests on records that must be committed
        final State then = new State();
        records.subList(0, Math.min(of.records(), committedCount)).forEach(then::apply);
        assertEquals(version, then.version(key), "an answer tells of what is not committed");
      }
    }

    /** Readers see what is committed, and nothing else. */
    private void read() {
      final Found found = new Found();
      for (int i = 0; i < KEYS; i++) {
        final ByteString key = ByteString.copyFromUtf8("key " + (char) ('a' + i));
        final Kept kept = committed.get(key);
        final ReadResult result = index.newReader().get(key, found);
        assertEquals(
            kept == null ? ReadResult.ABSENT : ReadResult.FOUND, result, key::toStringUtf8);
        if (kept != null) {
          assertEquals(kept, new Kept(found.version(), found.value(), found.deadline()));
        }
      }
      if (ordered) {
        final List<String> keys = new ArrayList<>();
        final ReadResult result =
            ((OrderedReader) index.newReader())
                .scan(
                    ScanCursor.forward(ByteString.EMPTY, ByteString.EMPTY),
                    (array, at, length, valueLength, version, deadline) ->
                        keys.add(new String(array, at, length, UTF_8)));
        assertEquals(ReadResult.ABSENT, result);
        final List<String> expectedKeys = new ArrayList<>();
        for (final String key : committed.entries.keySet()) {
          if (committed.get(ByteString.copyFromUtf8(key)) != null) {
            expectedKeys.add(key);
          }
        }
        assertEquals(expectedKeys, keys);
      }
    }

    /** With time, and commits, nothing is left whose deadline has come. */
    private void settle() {
      pass(ExpiryCycle.WAKE_UP_MAX_MS); // the wall clock may have been set forward
      for (int i = 0; i < 40; i++) {
        pass(5);
        commit(records.size());
      }
      final long late = nowMs() - 100; // the log has refused some ticks and removals
      committed.entries.forEach(
          (key, kept) ->
              assertTrue(kept.deadline() == 0 || kept.deadline() > late, () -> key + " " + kept));
      assertEquals(committed.entries.size(), index.partition(0).count());
    }

    /** Ends and starts again: what was not committed is lost from any record on. */
    private void restart() {
      final int kept = committedCount + random.nextInt(records.size() - committedCount + 1);
      records.subList(kept, records.size()).clear();
      committedCount = Math.min(committedCount, kept);
      appended = new State();
      records.forEach(appended::apply);
      committed = new State();
      records.subList(0, committedCount).forEach(committed::apply);
      pending.clear();
      time = new ManualTime(time.wallMs() + random.nextInt(400_000) - 200_000);
      open();
      final long now = nowMs();
      for (int i = 0; i < KEYS; i++) {
        final Kept left = committed.get(ByteString.copyFromUtf8("key " + (char) ('a' + i)));
        assertTrue(
            left == null || left.deadline() == 0 || left.deadline() > now, "ended meanwhile");
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void partitionIsAsTheMap(boolean ordered) {
    System.out.println("ringfetch.seed=" + SEED);
    int answers = 0;
    int ended = 0;
    for (int w = 0; w < WORLDS; w++) {
      final long seed = SEED * 1_000_003 + w;
      try {
        final World world = new World(seed, ordered);
        for (int i = 0; i < STEPS; i++) {
          world.step();
        }
        answers += world.answers;
        ended += world.ended;
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError("world seed=" + seed + " ordered=" + ordered, e);
      }
    }
    System.out.println("ordered=" + ordered + " answers=" + answers + " ended=" + ended);
    assertTrue(answers > WORLDS * 50, "answers=" + answers);
    assertTrue(ended > WORLDS * 10, "ended=" + ended);
  }
}
