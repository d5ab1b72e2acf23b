package dev.ringfetch.index.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The deadlines that an owner keeps: in order, of the right entries, and not too many of them. */
class DeadlinesTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 29);

  /** A deadline as a model has it. */
  private record Kept(long deadline, long version, long place) {}

  /** Removals at any place, and more deadlines than one array has. */
  @Test
  void earliestComesFirst() {
    System.out.println("ringfetch.seed=" + SEED);
    final Random random = new Random(SEED);
    for (int round = 0; round < 20; round++) {
      final Deadlines deadlines = new Deadlines();
      final Map<Long, Kept> model = new HashMap<>(); // by version
      final int most = 1 + random.nextInt(6 * Deadlines.CHUNK);
      final int range = 1 + random.nextInt(10_000);
      for (int step = 0; step < 20_000; step++) {
        final boolean grows = step < 10_000;
        if (model.size() < most && random.nextInt(4) < (grows ? 3 : 1)) {
          final Kept kept = new Kept(1 + random.nextInt(range), step + 1, random.nextLong());
          deadlines.add(kept.deadline(), kept.version(), kept.place());
          model.put(kept.version(), kept);
        } else if (!model.isEmpty()) {
          final int number = random.nextInt(3) == 0 ? random.nextInt(model.size()) : 0;
          final Kept removed = model.remove(deadlines.version(number));
          assertEquals(removed.place(), deadlines.place(number));
          if (number == 0) {
            assertEquals(removed.deadline(), deadlines.first());
          }
          deadlines.remove(number);
        }
        assertEquals(model.size(), deadlines.size());
      }
      final List<Kept> rest = new ArrayList<>(model.values());
      rest.sort(Comparator.comparingLong(Kept::deadline));
      for (final Kept kept : rest) {
        assertEquals(kept.deadline(), deadlines.first());
        deadlines.remove(0);
      }
      assertEquals(Deadlines.NONE, deadlines.first());
    }
  }

  private final StoreMemory memory = Memories.serving(1 << 20, 64 << 20);
  private long version;

  private EntryStore store(boolean ordered) {
    return ordered ? new OrderedIndex(memory).partition(0) : new HashIndex(memory, 2).partition(0);
  }

  private void put(EntryStore store, String key, long deadline) {
    final ByteString value = ByteString.copyFromUtf8("value " + ++version);
    final ByteString bytes = ByteString.copyFromUtf8(key);
    assertEquals(0, store.reserve(bytes.size(), value.size(), deadline != 0));
    store.put(bytes, value, version, deadline);
    assertEquals(version, store.version(bytes));
    assertEquals(deadline, store.deadline());
    assertEquals(deadline, store.entry(bytes).getDeadlineMs());
    assertEquals(value, store.entry(bytes).getValue());
  }

  /** The deadline of an entry that was replaced names no key, although its block is as it was. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void deadlineIsThatOfOneEntry(boolean ordered) {
    final EntryStore store = store(ordered);
    final Expiry expiry = store.expiry();
    put(store, "a", 10);
    assertEquals("a", expiry.firstKey().toStringUtf8());
    put(store, "a", 0);
    assertEquals(10, expiry.first());
    assertNull(expiry.firstKey());
    put(store, "a", 20);
    assertNull(expiry.firstKey());
    expiry.removeFirst();
    assertEquals(20, expiry.first());
    assertEquals("a", expiry.firstKey().toStringUtf8());
    assertTrue(store.delete(ByteString.copyFromUtf8("a")));
    assertNull(expiry.firstKey());
    put(store, "b", 0); // perhaps where that was
    assertNull(expiry.firstKey());
    expiry.removeFirst();
    assertEquals(Expiry.NONE, expiry.first());
  }

  /** However often entries are replaced before their deadlines come. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void deadlinesOfReplacedEntriesAreBounded(boolean ordered) {
    final EntryStore store = store(ordered);
    final Expiry expiry = store.expiry();
    final int keys = 500;
    for (int round = 0; round < 40; round++) {
      for (int i = 0; i < keys; i++) {
        put(store, "key " + i, 1_000_000_000L - version);
        assertTrue(expiry.kept() <= 3 * keys + 2 * Expiry.SLACK, "kept=" + expiry.kept());
      }
    }
    for (int i = 0; i < keys; i++) {
      put(store, "key " + i, 0);
      put(store, "key " + i, 0);
    }
    assertTrue(expiry.kept() <= 2 * Expiry.SLACK, "kept=" + expiry.kept());
    assertFalse(expiry.isUsed());
  }

  @Test
  void clockNeverGoesBack() {
    final Expiry expiry = store(true).expiry();
    expiry.advance(10);
    expiry.advance(9);
    assertEquals(10, expiry.clock());
  }
}
