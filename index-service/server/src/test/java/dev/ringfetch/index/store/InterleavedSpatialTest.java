package dev.ringfetch.index.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.BoxDescriptor;
import dev.ringfetch.index.layout.Found;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.layout.SpatialNodeDescriptor;
import dev.ringfetch.index.layout.SpatialQuery;
import dev.ringfetch.index.layout.SpatialReader;
import dev.ringfetch.index.layout.SpatialSearch;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Reads a spatial index at each moment between two stores of its owner. */
class InterleavedSpatialTest {
  private static final int ENTRIES = 3 * SpatialNodeDescriptor.CAPACITY;
  private static final double[] ALL = {-10, -10, 1000, 1000};

  private final Deque<Runnable> script = new ArrayDeque<>();
  private StoreLog log;
  private SpatialStore store;
  private SpatialReader reader;
  private SpatialReader scripted;
  private long version;

  /** Fills an index with a row of points, whose leaves are next to each other. */
  private void open() {
    log = new StoreLog(new Random(1), () -> {});
    log.freeze(true); // stores arrive when the test says so
    final LoggedMemory logged = new LoggedMemory(log, 1);
    final SpatialIndex index = new SpatialIndex(logged.memory, 1, 1);
    store = (SpatialStore) index.partition(0);
    index.complete();
    reader = new SpatialReader(logged.liveReads(), index.location());
    scripted = new SpatialReader(new ScriptedReads(logged.liveReads(), script), index.location());
    version = 0;
    for (int i = 0; i < ENTRIES; i++) {
      put(i, i);
    }
    assertEquals(2, store.tree().height());
    log.flush();
  }

  private static ByteString id(int number) {
    return ByteString.copyFromUtf8("e" + number);
  }

  private void put(int number, double x) {
    final ByteString value = BoxDescriptor.bytes(x, 0, x, 0);
    assertEquals(0, store.reserve(id(number).size(), value.size()));
    store.put(id(number), value, ++version);
  }

  /** The versions that a search finds; null if it could not decide. */
  private static Map<ByteString, Long> search(SpatialReader with) {
    final Map<ByteString, Long> found = new HashMap<>();
    final ReadResult result =
        with.search(
            new SpatialSearch(SpatialQuery.intersecting(ALL)),
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
    assertTrue(store.delete(id(7)));
    becomesVisibleAtOnce(7, 8, 0);
  }

  /**
   * A search that is interrupted at each of its reads by a change that happens as a whole, or up to
   * a store: what stays is found.
   */
  @Test
  void noChangeHidesWhatStays() {
    int interrupted = 0;
    for (final int moved : new int[] {2, ENTRIES - 3}) {
      for (int reads = 2; reads < 16; reads++) {
        for (int part = 1; part <= 3; part++) {
          interrupted += interrupt(moved, ENTRIES - 1 - moved + 0.5, reads, part) ? 1 : 0;
        }
      }
    }
    assertTrue(interrupted > 40, "interrupted=" + interrupted);
  }

  private boolean interrupt(int moved, double x, int reads, int part) {
    open();
    script.clear();
    for (int i = 0; i < reads; i++) {
      script.add(() -> {});
    }
    script.add(
        () -> {
          final long before = log.appended();
          put(moved, x);
          put((moved + ENTRIES / 3) % ENTRIES, x); // and another one to the same place
          final long stores = (log.appended() - before) * part / 3;
          for (long i = 0; i < stores; i++) {
            log.step();
          }
        });
    script.add(log::flush);
    final Map<ByteString, Long> found = search(scripted);
    final boolean isInterrupted = script.isEmpty();
    script.clear();
    if (found != null) {
      for (int i = 0; i < ENTRIES; i++) {
        assertTrue(
            found.containsKey(id(i)),
            "missing: e" + i + " moved=" + moved + " x=" + x + " reads=" + reads + "/" + part);
      }
    }
    return isInterrupted;
  }
}
