package dev.ringfetch.index.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.hunt.Rounds;
import dev.ringfetch.index.layout.BoxDescriptor;
import dev.ringfetch.index.layout.EntrySink;
import dev.ringfetch.index.layout.Found;
import dev.ringfetch.index.layout.HashLocation;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.layout.Reads;
import dev.ringfetch.index.layout.SpatialDescriptor;
import dev.ringfetch.index.layout.SpatialNodeDescriptor;
import dev.ringfetch.index.layout.SpatialQuery;
import dev.ringfetch.index.layout.SpatialReader;
import dev.ringfetch.index.layout.SpatialSearch;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Reads a spatial index at each moment between two stores of its owner. */
class InterleavedSpatialTest {
  private static final int ENTRIES = 3 * SpatialNodeDescriptor.CAPACITY;

  /** A place whose leaf is full. */
  private static final int FULL = ENTRIES / 3;

  /** The last entry of its leaf. */
  private int lastOfFull;

  /** Reads between two parts of the changes, and one more. */
  /** Of the combinations of parts, every fifth one is tried; all of them in a hunt. */
  private static final int EACH = Rounds.once(1, 5);

  private static final int GAPS = Integer.getInteger("ringfetch.hunt", 0) == 0 ? 2 : 4;

  /** Looks at pieces of mapped memory between two moments of the first part. */
  private static final int PIECES = Integer.getInteger("ringfetch.hunt", 0) == 0 ? 17 : 7;

  private static final int CACHED_NODES = 16;
  private static final int LAST_LEAF = ENTRIES - 1;
  private static final double[] ALL = {-10, -10, 1900, 1000};

  private final Deque<Runnable> script = new ArrayDeque<>();
  private StoreLog log;
  private LoggedMemory logged;
  private HashLocation location;
  private SpatialStore store;
  private SpatialReader reader;
  private SpatialReader scripted;
  private long version;
  private final Map<Integer, Long> versions = new HashMap<>();
  private final Map<Integer, Double> places = new HashMap<>();

  /** Fills an index with a row of points, whose leaves are next to each other. */
  private void open() {
    open(ENTRIES);
  }

  private void open(int entries) {
    log = new StoreLog(new Random(1), () -> {});
    log.freeze(true); // stores arrive when the test says so
    logged = new LoggedMemory(log, 1);
    final SpatialIndex index = new SpatialIndex(logged.memory, 1, 1);
    store = (SpatialStore) index.partition(0);
    index.complete();
    location = index.location();
    versions.clear();
    reader = new SpatialReader(logged.liveReads(), index.location(), CACHED_NODES);
    scripted =
        new SpatialReader(
            new ScriptedReads(logged.liveReads(), script), index.location(), CACHED_NODES);
    version = 0;
    for (int i = 0; i < entries; i++) {
      put(i, i);
    }
    log.flush();
  }

  private static ByteString id(int number) {
    return ByteString.copyFromUtf8("e" + number);
  }

  private void put(int number, double x) {
    final ByteString value = BoxDescriptor.bytes(x, 0, x, 0);
    assertEquals(0, store.reserve(id(number).size(), value.size()));
    store.put(id(number), value, ++version);
    versions.put(number, version);
    places.put(number, x);
  }

  private void remove(int number) {
    assertTrue(store.delete(id(number)));
    versions.remove(number);
  }

  /** The versions that a search finds; null if it could not decide. */
  private static Map<ByteString, Long> search(SpatialReader with) {
    return search(with, ALL);
  }

  private static Map<ByteString, Long> search(SpatialReader with, double[] box) {
    final Map<ByteString, Long> found = new HashMap<>();
    final ReadResult result =
        with.search(
            new SpatialSearch(SpatialQuery.intersecting(box)),
            (array, key, keyLength, valueLength, of, deadline) -> {
              assertEquals(null, found.put(ByteString.copyFrom(array, key, keyLength), of));
              return true;
            });
    return result == ReadResult.UNDECIDED ? null : found;
  }

  /** The version that a read by key finds; 0 if there is none, negative if it could not decide. */
  private long get(int number) {
    final Found found = new Found();
    return switch (reader.get(id(number), found)) {
      case FOUND -> found.version();
      case ABSENT -> 0;
      default -> -1;
    };
  }

  /** Nobody sees the former state of an entry once somebody has seen the new one. */
  private void becomesVisibleAtOnce(int changed, long before, long after) {
    boolean isSeen = false;
    int decided = 0;
    int moments = 0;
    do {
      final long byKey = get(changed);
      assertTrue(byKey < 0 || byKey == before || byKey == after, "byKey=" + byKey);
      assertTrue(!isSeen || byKey != before, "by key again before: moment=" + moments);
      isSeen |= byKey == after;
      final Map<ByteString, Long> found = search(reader);
      if (found != null) {
        decided++;
        final long byBox = found.getOrDefault(id(changed), 0L);
        assertTrue(byBox == before || byBox == after, "byBox=" + byBox);
        assertTrue(!isSeen || byBox != before, "by box again before: moment=" + moments);
        isSeen |= byBox == after;
        assertTrue(!isSeen || get(changed) != before, "by key again before: moment=" + moments);
        for (int i = 0; i < ENTRIES; i++) {
          assertTrue(i == changed || found.containsKey(id(i)), "moment=" + moments + " e" + i);
        }
      }
      moments++;
    } while (log.step());
    assertEquals(after, get(changed));
    assertTrue(isSeen && decided >= 2, "moments=" + moments + " decided=" + decided);
  }

  @Test
  void eachChangeIsVisibleAtOnce() {
    open();
    put(ENTRIES, ENTRIES); // beside the last one
    becomesVisibleAtOnce(ENTRIES, 0, version);
    open();
    put(7, 7.25); // in its leaf
    becomesVisibleAtOnce(7, 8, version);
    open();
    put(7, ENTRIES - 5); // into another leaf
    becomesVisibleAtOnce(7, 8, version);
    open();
    remove(7);
    becomesVisibleAtOnce(7, 8, 0);
  }

  /** Three changes, and how they are called; the index has had a row of entries before. */
  private enum Changes {
    SPLIT_MOVE_REMOVE {
      @Override
      void make(InterleavedSpatialTest test) {
        test.put(ENTRIES, FULL + 0.5);
        test.put(2, ENTRIES - 3);
        test.remove(LAST_LEAF);
      }
    },
    MOVES_TO_AND_FRO {
      @Override
      void make(InterleavedSpatialTest test) {
        test.put(2, ENTRIES - 3.5);
        test.put(2, ENTRIES / 2.0);
        test.put(2, 2);
      }
    },
    MOVES_INTO_A_LEAF_THAT_SPLITS {
      @Override
      void make(InterleavedSpatialTest test) {
        test.put(ENTRIES - 2, FULL + 0.25);
        test.put(3, FULL + 0.5);
        test.put(ENTRIES - 2, 3.5);
      }
    },
    MOVES_OF_TWO {
      @Override
      void make(InterleavedSpatialTest test) {
        test.put(2, ENTRIES - 3.5);
        test.put(ENTRIES - 2, 2.5);
        test.put(2, ENTRIES / 2.0);
      }
    },
    MOVES_BEHIND_ANOTHER {
      @Override
      void make(InterleavedSpatialTest test) {
        test.put(ENTRIES / 2, 1.5);
        test.put(2, ENTRIES - 3.5);
        test.put(2, ENTRIES / 2.0 + 1);
      }
    },
    MOVES_BEHIND_ANOTHER_BACK {
      @Override
      void make(InterleavedSpatialTest test) {
        test.put(ENTRIES / 2, 1.5);
        test.put(ENTRIES - 3, 2.5);
        test.put(ENTRIES - 3, ENTRIES / 2.0 + 1);
      }
    },
    UPDATE_AND_SPLIT {
      @Override
      void make(InterleavedSpatialTest test) {
        test.put(test.lastOfFull, test.lastOfFull);
        test.put(ENTRIES, FULL + 0.5); // takes it out of its leaf
        test.put(test.lastOfFull, test.lastOfFull);
      }
    },
    UPDATES {
      @Override
      void make(InterleavedSpatialTest test) {
        test.put(2, 2);
        test.put(2, 2.25);
        test.remove(3);
      }
    };

    abstract void make(InterleavedSpatialTest test);
  }

  /**
   * Each search into which the owner comes with three changes in three parts, which end at any of
   * its stores with an order: the first at any read of the search, or at some look at mapped
   * memory, the others soon afterwards.
   */
  @ParameterizedTest
  @CsvSource({"false", "true"})
  void noChangeHidesWhatStays(boolean posted) {
    for (final Changes changes : Changes.values()) {
      open();
      final Reads scriptedReads = new ScriptedReads(logged.liveReads(), script, !posted);
      final SpatialReader with = new SpatialReader(scriptedReads, location, CACHED_NODES);
      fillLeaf();
      log.flush();
      final Set<Integer> staying = new HashSet<>(versions.keySet());
      changes.make(this);
      staying.retainAll(versions.keySet());
      final List<byte[]> before = logged.copy();
      final int from = log.position();
      int parts = 1;
      while (log.stepToOrder()) {
        parts++;
      }
      int combinations = 0;
      int searches = 0;
      int decided = 0;
      boolean isInterrupted = true;
      for (int reads = 1; isInterrupted; reads += posted ? 1 : PIECES) {
        isInterrupted = false;
        for (int gap = 0; gap < GAPS; gap++) {
          for (int begin = 0; begin <= parts; begin++) {
            for (int end = begin; end <= parts; end++) {
              if (++combinations % EACH != 0) {
                continue;
              }
              logged.restore(before);
              log.rewind(from);
              script.clear();
              interrupt(reads, begin);
              interrupt(posted ? gap : gap * PIECES, end - begin);
              interrupt(posted ? gap : gap * PIECES, parts - end);
              final Map<ByteString, Long> found = search(with);
              isInterrupted |= script.isEmpty();
              searches++;
              decided += found == null ? 0 : 1;
              final String where =
                  String.format("%s reads=%d+%d parts=%d/%d", changes, reads, gap, begin, end);
              for (final int number : found == null ? Set.<Integer>of() : staying) {
                assertTrue(found.containsKey(id(number)), () -> "missing: e" + number + where);
              }
            }
          }
        }
      }
      System.out.printf(
          "%s posted=%s parts=%d searches=%d decided=%d%n",
          changes, posted, parts, searches, decided);
      assertTrue(decided > searches * 9 / 10, changes + " decided=" + decided);
    }
  }

  /**
   * So many moves that the record of an entry's move is that of another one, between the reads of
   * the number of moves and of the record.
   */
  @Test
  void recordThatWasReplacedIsNotFollowed() {
    for (int reads = 3; reads < 40; reads += 4) {
      open();
      script.clear();
      for (int i = 0; i < reads; i++) {
        script.add(() -> {});
      }
      script.add(
          () -> {
            put(2, ENTRIES - 3.5);
            put(ENTRIES - 3, 2.5);
            log.flush();
          });
      final Runnable replace =
          () -> {
            for (int i = 0; i < SpatialDescriptor.LINES / 2; i++) {
              put(ENTRIES / 2, 2 * ENTRIES / 3);
              put(ENTRIES / 2, ENTRIES / 2);
            }
            log.flush();
          };
      final SpatialReader with =
          new SpatialReader(
              new ScriptedReads(
                  new Before(
                      store.tree().ring(),
                      SpatialDescriptor.RING_LENGTH,
                      time -> {
                        if (time == 1) {
                          replace.run();
                        }
                      }),
                  script,
                  true),
              location,
              CACHED_NODES);
      final Map<ByteString, Long> found = search(with);
      assertTrue(found != null && script.isEmpty(), "reads=" + reads);
      assertEquals(ENTRIES, found.size(), "reads=" + reads);
    }
  }

  /** A move that has its record and nothing else when a search begins. */
  @Test
  void moveThatIsUnderWayAtTheBeginIsFollowed() {
    int searches = 0;
    for (final double x : new double[] {2.5, ENTRIES / 2.0 + 0.5, ENTRIES - 2.5}) {
      for (final int moved : new int[] {2, ENTRIES / 2, ENTRIES - 2}) {
        open();
        put(moved, x);
        final List<byte[]> before = logged.copy();
        final int from = log.position();
        int orders = 0; // up to that of the number of moves
        while (moves() == 0 && log.stepToOrder()) {
          orders++;
        }
        if (moves() == 0) {
          continue; // it stays in its leaf
        }
        boolean isInterrupted = true;
        for (int reads = 1; isInterrupted; reads++) {
          logged.restore(before);
          log.rewind(from);
          for (int i = 0; i < orders; i++) {
            log.stepToOrder();
          }
          script.clear();
          interrupt(reads, Integer.MAX_VALUE);
          final Map<ByteString, Long> found = search(scripted);
          isInterrupted = script.isEmpty();
          final String where = "missing: e" + moved + " x=" + x + " reads=" + reads;
          assertTrue(found != null && found.containsKey(id(moved)), where);
          searches++;
        }
      }
    }
    assertTrue(searches > 10, "searches=" + searches);
  }

  /**
   * A move that has its record and nothing else when a long search looks at the moves: the search
   * follows it at the end, not before it has been where the entry still is.
   */
  @Test
  void moveIsFollowedWhenAllElseWasVisited() {
    final int entries = 9_000; // more leaves than are visited between two looks
    for (final int moved : new int[] {2, entries / 2, entries - 2}) {
      for (final double x : new double[] {2.5, entries / 2.0 + 0.5, entries - 2.5}) {
        open(entries);
        put(moved, x);
        final List<byte[]> before = logged.copy();
        final int from = log.position();
        int orders = 0; // up to that of the number of moves
        while (moves() == 0 && log.stepToOrder()) {
          orders++;
        }
        if (moves() == 0) {
          continue; // it stays in its leaf
        }
        final int parts = orders;
        for (int gap = 0; gap < 70; gap += 3) {
          logged.restore(before);
          log.rewind(from);
          script.clear();
          final int rest = gap;
          final IntConsumer record =
              time -> {
                for (int i = 0; time == 2 && i < parts; i++) {
                  log.stepToOrder();
                }
                if (time == 2) {
                  interrupt(rest, Integer.MAX_VALUE);
                }
              };
          final Reads reads =
              new ScriptedReads(new Before(head(), SpatialDescriptor.HEAD_LENGTH, record), script);
          final Map<ByteString, Long> found =
              search(
                  new SpatialReader(reads, location, CACHED_NODES),
                  new double[] {0, 0, entries, 0});
          assertTrue(found != null);
          for (int i = 0; i < entries; i++) {
            final String where = "missing: e" + i + " x=" + x + " gap=" + gap;
            assertTrue(found.containsKey(id(i)), where);
          }
        }
      }
    }
  }

  /**
   * An entry that moves twice: the search sees the record of the second move while the entry is
   * still where the first one has brought it. So it looks there first.
   */
  @Test
  void movesOfAnEntryAreFollowedOneAfterTheOther() {
    open();
    put(2, ENTRIES - 3.5);
    put(2, ENTRIES / 2.0);
    final List<byte[]> before = logged.copy();
    final int from = log.position();
    int orders = 0;
    while (moves() != SpatialDescriptor.moves(2, true)) {
      assertTrue(log.stepToOrder());
      orders++;
    }
    boolean isInterrupted = true;
    for (int reads = 1; isInterrupted; reads++) {
      isInterrupted = false;
      for (int gap = 0; gap < 20; gap++) {
        logged.restore(before);
        log.rewind(from);
        script.clear();
        interrupt(reads, orders);
        final int later = gap;
        final IntConsumer rest =
            time -> {
              if (time == 1) {
                interrupt(later, Integer.MAX_VALUE);
              }
            };
        final Reads live = new Before(store.tree().ring(), SpatialDescriptor.RING_LENGTH, rest);
        final Map<ByteString, Long> found =
            search(
                new SpatialReader(new ScriptedReads(live, script, true), location, CACHED_NODES));
        isInterrupted |= script.isEmpty();
        final String where = "reads=" + reads + "+" + gap;
        assertTrue(found != null && found.containsKey(id(2)), where);
      }
    }
  }

  /**
   * A search whose every look meets another move ends all the same, though its steps visit few
   * nodes, and can go on later.
   */
  @Test
  void movesWithoutEndAreLeftToACall() {
    open();
    final int[] looks = {0};
    final boolean[] isMoving = {true};
    final IntConsumer move =
        time -> {
          looks[0]++;
          if (isMoving[0]) {
            put(ENTRIES / 2, time % 2 == 0 ? 2 : ENTRIES - 3.5);
            log.flush();
          }
        };
    for (final boolean posted : new boolean[] {false, true}) {
      looks[0] = 0;
      isMoving[0] = true;
      final Reads reads =
          new ScriptedReads(
              new Before(head(), SpatialDescriptor.HEAD_LENGTH, move), script, !posted);
      final SpatialReader with = new SpatialReader(reads, location, CACHED_NODES);
      final Set<ByteString> ids = new HashSet<>();
      final EntrySink sink =
          new EntrySink() {
            private int passed;

            @Override
            public boolean take(
                byte[] array, int key, int keyLength, int valueLength, long of, long deadline) {
              return ids.add(ByteString.copyFrom(array, key, keyLength));
            }

            @Override
            public boolean passes() {
              return ++passed % 20 != 0;
            }
          };
      final SpatialSearch search = new SpatialSearch(SpatialQuery.intersecting(ALL));
      ReadResult result;
      do {
        result = with.search(search, sink);
      } while (result == ReadResult.FOUND);
      assertEquals(ReadResult.UNDECIDED, result);
      assertTrue(looks[0] > 64 && looks[0] < 70, "looks=" + looks[0]);
      assertFalse(search.isAdvancing());
      isMoving[0] = false;
      do {
        result = with.search(search, sink);
      } while (result == ReadResult.FOUND);
      assertEquals(ReadResult.ABSENT, result);
      assertEquals(ENTRIES, ids.size());
    }
  }

  private long head() {
    return location.root() + SpatialDescriptor.head(0, location.partitions());
  }

  /** The number of moves that readers see. */
  private long moves() {
    final Reads reads = logged.liveReads();
    reads.begin();
    reads.add(head(), Long.BYTES);
    assertEquals(Reads.DONE, reads.execute());
    return reads.region(0).getLongAcquire(reads.offset(0));
  }

  /** Reads that do something before each batch in which they read some memory, with its number. */
  private final class Before extends ForwardingReads {
    private final long from;
    private final long length;
    private final IntConsumer action;
    private int times;
    private boolean isThere;

    Before(long from, long length, IntConsumer action) {
      super(logged.liveReads());
      this.from = from;
      this.length = length;
      this.action = action;
    }

    @Override
    public int add(long address, int bytes) {
      isThere |= address >= from && address < from + length;
      return super.add(address, bytes);
    }

    @Override
    public int execute() {
      if (isThere) {
        action.accept(++times);
      }
      isThere = false;
      return super.execute();
    }
  }

  /** Has the owner store some parts of its changes after some reads. */
  private void interrupt(int reads, int parts) {
    for (int i = 0; i < reads; i++) {
      script.add(() -> {});
    }
    script.add(
        () -> {
          for (int i = 0; i < parts && log.stepToOrder(); i++) {
            // one part
          }
        });
  }

  /** Fills the leaf at {@link #FULL}, so that one more entry there splits it. */
  private void fillLeaf() {
    int number = 1000;
    final SpatialNode[] leaves = store.tree().root().children;
    for (int i = 0; i < store.tree().root().count; i++) {
      final SpatialNode leaf = leaves[i];
      if (leaf.box[0] <= FULL && leaf.box[2] >= FULL) {
        lastOfFull = (int) leaf.box[2];
        while (leaf.count < SpatialNodeDescriptor.CAPACITY) {
          put(number++, FULL);
        }
        return;
      }
    }
    throw new AssertionError("no leaf there");
  }

  /**
   * A search whose owner makes many changes after one of its first looks at memory: leaves are
   * split again and again, die, and other nodes take their memory. What stays is found.
   */
  @Test
  void nodesThatTheReaderKnowsAreFollowedWhereverTheyWent() {
    int decided = 0;
    for (int seed = 0; seed < 120; seed++) {
      final Random random = new Random(seed);
      final int cycles = seed == 0 ? 80 : 0;
      decided += change(5 + random.nextInt(12), random.nextInt(40), cycles, random) ? 1 : 0;
    }
    assertTrue(decided > 100, "decided=" + decided);
  }

  private boolean change(int reads, int deleted, int cycles, Random random) {
    open();
    final SpatialReader looking =
        new SpatialReader(
            new ScriptedReads(logged.liveReads(), script, true), location, CACHED_NODES);
    script.clear();
    for (int i = 0; i < reads; i++) {
      script.add(() -> {});
    }
    script.add(
        () -> {
          // Where what stays begins: a leaf there is split, and its left part may become empty.
          final double at = random.nextBoolean() ? deleted - 8 : random.nextInt(ENTRIES);
          final int added = 20 + random.nextInt(100);
          for (int i = 0; i < added; i++) {
            put(1000 + i, Math.max(0, at + random.nextDouble() * 8));
          }
          for (int i = 0; i < deleted; i++) {
            remove(i);
          }
          for (final int number : List.copyOf(versions.keySet())) {
            if (number >= 1000 && places.get(number) < deleted) {
              remove(number);
            }
          }
          for (int cycle = 0; cycle < cycles; cycle++) { // far away from all that is searched
            for (int i = 0; i < 40; i++) {
              put(5000 + i, 2000 + i);
            }
            for (int i = 0; i < 40; i++) {
              remove(5000 + i);
            }
          }
          log.flush();
        });
    final Map<ByteString, Long> found = search(looking);
    for (int i = deleted; i < ENTRIES && found != null; i++) {
      assertTrue(found.containsKey(id(i)), "missing: e" + i + " reads=" + reads + "/" + deleted);
    }
    return found != null;
  }
}
