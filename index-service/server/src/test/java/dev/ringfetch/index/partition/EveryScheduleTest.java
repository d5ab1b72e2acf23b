package dev.ringfetch.index.partition;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.Found;
import dev.ringfetch.index.layout.HashReader;
import dev.ringfetch.index.layout.KeyHash;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.layout.SegmentReads;
import dev.ringfetch.index.store.HashIndex;
import dev.ringfetch.index.store.PartitionStore;
import dev.ringfetch.index.store.StoreMemory;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Model check of a partition, its store and its reader: two clients write a few entries, in every
 * order of their writes and the commits, and for each order a reader reads with its loads at every
 * combination of moments (see {@link RecordedMemory}). Deterministic.
 *
 * <p>Each answer to a write must be that of the writes carried out in the order of their
 * submission, and come after the commit of what it tells of. Each read must be that of a state
 * which the key had within the read, between the commit of its write and the answer to the next
 * one; and another read at its end must not go back.
 */
final class EveryScheduleTest {
  private static final long INCARNATION = 0x1234_5678_9ABCL;

  /** Versions of what is there before: below those of the log. */
  private static final long CEILING = 100;

  private static final int CAPACITY = 8;

  /** Entries with which the next put makes a table grow. */
  private static final int NEARLY_FULL = 26;

  /** Choices of a reader's run. */
  private static final int DEPTH = 20;

  /** Writes of the clients: a put, a delete and a comparison of one key, a put of another. */
  private static final List<String> WRITES = List.of("p", "d", "c", "q");

  private static final ByteString[] KEYS = keys();

  private final Map<ReadResult, Long> counts = new EnumMap<>(ReadResult.class);
  private final Set<List<Object>> seen = new HashSet<>();
  private long schedules;

  /** A state of a key: its write was committed after so many stores, and answered after so many. */
  private record State(long version, int begin, int end) {}

  @Test
  void oneWriteOfEachClient() throws IOException {
    for (final String one : WRITES) {
      for (final String two : WRITES) {
        for (final boolean present : new boolean[] {false, true}) {
          runAll(one, two, present, 0);
          runAll(one, two, present, NEARLY_FULL);
        }
      }
    }
    report();
  }

  @Test
  @Tag("slow")
  void twoWritesBesideOne() throws IOException {
    for (final String one : WRITES) {
      for (final String next : WRITES) {
        for (final String two : WRITES) {
          for (final boolean present : new boolean[] {false, true}) {
            runAll(one + next, two, present, 0);
            runAll(one + next, two, present, NEARLY_FULL);
          }
        }
      }
    }
    report();
  }

  private void report() {
    System.out.println("schedules=" + schedules + " stores=" + seen.size() + " reads: " + counts);
    final long all = counts.values().stream().mapToLong(Long::longValue).sum();
    assertTrue(counts.get(ReadResult.FOUND) > all / 10, counts::toString);
    assertTrue(counts.get(ReadResult.ABSENT) > all / 10, counts::toString);
    assertTrue(counts.getOrDefault(ReadResult.UNDECIDED, 0L) < all / 2, counts::toString);
  }

  /**
   * Two keys of one fingerprint, in the same buckets while there is one group, and which the first
   * split of a table moves.
   */
  private static ByteString[] keys() {
    final long seed = newIndex(new RecordedMemory(0)).location().seed();
    final ByteString[] keys = new ByteString[2];
    final Map<Integer, ByteString> first = new HashMap<>();
    for (int i = 0; keys[1] == null; i++) {
      final ByteString key = ByteString.copyFromUtf8("key" + i);
      final long hash = KeyHash.of(key.toByteArray(), 0, key.size(), seed);
      final int place =
          (KeyHash.fingerprint(hash) << 2)
              | (KeyHash.side(KeyHash.half(hash, 0)) << 1)
              | KeyHash.side(KeyHash.half(hash, 1));
      if ((KeyHash.half(hash, 0) & KeyHash.half(hash, 1) & 1) == 0) {
        continue;
      }
      final ByteString other = first.put(place, key);
      if (other != null) {
        keys[0] = other;
        keys[1] = key;
      }
    }
    return keys;
  }

  private static HashIndex newIndex(RecordedMemory recorded) {
    try {
      final RecordedMemory.Region gate = recorded.gate();
      gate.putLong(0, INCARNATION);
      final StoreMemory memory =
          new StoreMemory(
              new StoreMemory.Context()
                  .segmentSource(recorded::grow)
                  .segmentLength(1 << RecordedMemory.SEGMENT_SHIFT)
                  .budget(1 << 20)
                  .gate(gate, 0)
                  .incarnation(INCARNATION)
                  .seed(7));
      memory.serve();
      return new HashIndex(memory, 1);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private void runAll(String one, String two, boolean present, int others) {
    final int commits = one.length() + two.length();
    runAll("", one.length(), two.length(), commits, new String[] {one, two}, present, others);
  }

  private void runAll(
      String steps, int one, int two, int commits, String[] writes, boolean present, int others) {
    if (one > 0) {
      runAll(steps + '1', one - 1, two, commits, writes, present, others);
    }
    if (two > 0) {
      runAll(steps + '2', one, two - 1, commits, writes, present, others);
    }
    if (commits > 0) {
      runAll(steps + 'c', one, two, commits - 1, writes, present, others);
    }
    if (one + two + commits == 0) {
      final String where =
          String.join(",", writes) + " " + steps + " present=" + present + " others=" + others;
      try {
        new Run(writes, present, others).run(steps);
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError(where, e);
      }
    }
  }

  /** One schedule. */
  private final class Run {
    private final RecordedMemory memory = new RecordedMemory(DEPTH);
    private final HashIndex index = newIndex(memory);
    private final PartitionStore store = index.partition(0);
    private final LateLog log = new LateLog(CEILING, 1);
    private final List<Throwable> errors = new ArrayList<>();
    private final Partition partition =
        new Partition(store, log, CAPACITY, errors::add, Handover.never());
    private final List<Write> submitted = new ArrayList<>();
    private final Map<Write, Integer> answered = new HashMap<>();
    private final Map<Write, Integer> committed = new HashMap<>();
    private final Map<Long, ByteString> values = new HashMap<>();
    private final long before;
    private final String[] writes;
    private final int[] done = new int[2];

    Run(String[] writes, boolean present, int others) {
      this.writes = writes;
      before = present ? CEILING : 0;
      if (present) { // first: in the table that is split first
        put(KEYS[0], before);
      }
      for (int i = 0; i < others; i++) {
        put(ByteString.copyFromUtf8("other" + i), i + 1);
      }
      memory.startRecording();
    }

    private void put(ByteString key, long version) {
      final ByteString value = ByteString.copyFromUtf8("before");
      values.put(version, value);
      assertEquals(0, store.reserve(key.size(), value.size()));
      store.put(key, value, version);
    }

    void run(String steps) {
      for (int i = 0; i < steps.length(); i++) {
        final char step = steps.charAt(i);
        if (step == 'c') {
          commit(1);
        } else {
          submit(writes[step - '1'].charAt(done[step - '1']++));
        }
      }
      commit(submitted.size());
      schedules++;
      assertEquals(List.of(), errors);
      assertEquals(submitted.size(), answered.size(), "writes without an answer");
      checkAnswers();
      for (int key = 0; key < KEYS.length; key++) {
        final List<State> states = states(key);
        if (seen.add(List.of(key, states, List.copyOf(memory.record())))) {
          read(key, states, false);
          read(key, states, true);
        }
      }
    }

    private void commit(int count) {
      final int first = log.committedRecords();
      for (int i = first; i < Math.min(log.records().size(), first + count); i++) {
        committed.put(log.records().get(i), memory.stores());
      }
      log.commit(count);
    }

    private void submit(char what) {
      final Write write = new Write(this::onAnswer);
      final ByteString value = ByteString.copyFromUtf8("value" + submitted.size());
      switch (what) {
        case 'p' -> write.put(KEYS[0], value);
        case 'q' -> write.put(KEYS[1], value);
        case 'd' -> write.delete(KEYS[0]);
        case 'c' -> write.compareAndSet(KEYS[0], before, value);
        default -> throw new IllegalArgumentException("write=" + what);
      }
      submitted.add(write);
      assertEquals(0, partition.submit(write));
    }

    private void onAnswer(Write write) {
      assertEquals(Write.DONE, write.outcome());
      long awaited = log.lsn(write);
      for (int i = submitted.indexOf(write) - 1; awaited == 0 && i >= 0; i--) {
        if (submitted.get(i).key().equals(write.key())) {
          awaited = log.lsn(submitted.get(i));
        }
      }
      assertTrue(log.isCommitted(awaited), "answered before the commit");
      assertEquals(null, answered.put(write, memory.stores()), "answered twice");
    }

    private void checkAnswers() {
      final Map<ByteString, Long> versions = new HashMap<>(Map.of(KEYS[0], before, KEYS[1], 0L));
      for (final Write write : submitted) {
        final long version = versions.get(write.key());
        final long lsn = log.lsn(write);
        switch (write.kind()) {
          case PUT -> assertEquals(version == 0, write.created());
          case DELETE -> assertEquals(version != 0, write.existed());
          case COMPARE_AND_SET -> {
            assertEquals(version == before, write.applied());
            if (version != before && version != 0) {
              assertEquals(version, write.entry().getVersion());
            }
          }
          case READ -> throw new AssertionError("no client reads by a write");
          case INCREMENT, TRANSACTION, TOUCH, TICK, RANGE_BEGIN, RANGE_DELETE, RANGE_END ->
              throw new AssertionError(write.kind());
        }
        if (lsn != 0) {
          final boolean deletes = write.kind() == WriteKind.DELETE;
          versions.put(write.key(), deletes ? 0 : lsn);
          if (!deletes) {
            values.put(lsn, write.value());
          }
        }
      }
    }

    /** The states of a key, in the order of the log. */
    private List<State> states(int key) {
      final List<State> states = new ArrayList<>();
      states.add(new State(key == 0 ? before : 0, -1, -1));
      for (final Write record : log.records()) {
        if (record.key().equals(KEYS[key])) {
          states.add(
              new State(
                  record.kind() == WriteKind.DELETE ? 0 : log.lsn(record),
                  committed.get(record),
                  answered.get(record)));
        }
      }
      return states;
    }

    /**
     * Reads a key in all ways.
     *
     * @param warm whether the reader has read before, and knows the tables of that moment
     */
    private void read(int key, List<State> states, boolean warm) {
      final Found found = new Found();
      memory.startSearch();
      do {
        final HashReader reader =
            new HashReader(
                new SegmentReads(memory, RecordedMemory.SEGMENT_SHIFT, memory.shownGate(), 0),
                index.location());
        if (warm) {
          memory.freeze(true);
          assertNotEquals(ReadResult.CLOSED, reader.get(KEYS[1 - key], found));
          memory.freeze(false);
          memory.startRead();
        }
        final int state = check(states, 0, reader.get(KEYS[key], found), found);
        memory.startRead();
        memory.freeze(true);
        check(states, state, reader.get(KEYS[key], found), found);
        memory.freeze(false);
      } while (memory.next());
    }

    /** Returns the first state from one on that the read can be of. */
    private int check(List<State> states, int from, ReadResult result, Found found) {
      counts.merge(result, 1L, Long::sum);
      if (result == ReadResult.UNDECIDED) {
        return from;
      }
      final long version;
      if (result == ReadResult.FOUND) {
        version = found.version();
        assertEquals(values.get(version), found.value());
      } else {
        assertEquals(ReadResult.ABSENT, result);
        version = 0;
      }
      final int end = memory.moment();
      final int begin = memory.latestBegin();
      for (int i = from; i < states.size(); i++) {
        if (states.get(i).version() == version
            && states.get(i).begin() < end
            && (i + 1 == states.size() || states.get(i + 1).end() > begin)) {
          return i;
        }
      }
      throw new AssertionError(
          "version="
              + version
              + " from="
              + begin
              + " to="
              + end
              + " not before state "
              + from
              + " of "
              + states);
    }
  }
}
