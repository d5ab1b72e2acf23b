package dev.ringfetch.index.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.Entry;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Walks over partitions that are written meanwhile. */
class EntryWalkTest {
  private static final int WALKS = 25;

  private final long seed = Long.getLong("ringfetch.seed", 20261127);
  private final Random random = new Random(seed);
  private final StoreMemory memory = Memories.serving(4 << 20, 256L << 20);
  private final Map<ByteString, Long> versions = new HashMap<>();
  private long version;
  private int next;

  private void put(EntryStore store, ByteString key) {
    final ByteString value = Memories.bytes(random, random.nextInt(200));
    final boolean unused = store.version(key) != 0;
    assertEquals(0, store.reserve(key.size(), value.size()));
    store.put(key, value, ++version);
    store.grow();
    versions.put(key, version);
  }

  private void delete(EntryStore store, ByteString key) {
    store.delete(key);
    versions.remove(key);
  }

  private ByteString newKey() {
    return ByteString.copyFromUtf8("key " + next++ * 7919L % 1_000_003);
  }

  private ByteString someKey() {
    final List<ByteString> all = List.copyOf(versions.keySet());
    return all.get(random.nextInt(all.size()));
  }

  private void write(EntryStore store) {
    final int changes = random.nextInt(60);
    final int kind = random.nextInt(3);
    for (int i = 0; i < changes; i++) {
      if (kind == 0 || versions.isEmpty()) {
        put(store, newKey());
      } else if (kind == 1) {
        put(store, someKey());
      } else if (random.nextInt(3) > 0) {
        delete(store, someKey());
      }
    }
  }

  /** Walks; returns the number of steps. */
  private int walk(EntryStore store, boolean writes) {
    final Map<ByteString, Long> begin = Map.copyOf(versions);
    final Set<ByteString> throughout = new HashSet<>(begin.keySet());
    final Map<ByteString, Long> seen = new HashMap<>();
    final EntryWalk walk = new EntryWalk();
    int steps = 0;
    while (!walk.isDone()) {
      store.step(walk);
      steps++;
      for (final Entry entry : walk.entries()) {
        assertEquals(versions.get(entry.getKey()), entry.getVersion());
        seen.put(entry.getKey(), entry.getVersion());
      }
      walk.clear();
      if (writes && random.nextInt(3) > 0) {
        write(store);
      }
      throughout.retainAll(versions.keySet());
    }
    for (final ByteString key : throughout) {
      assertTrue(
          seen.getOrDefault(key, 0L) >= begin.get(key),
          "seed=" + seed + " missing: key=" + key.toStringUtf8());
    }
    if (!writes) {
      assertEquals(begin, seen);
    }
    return steps;
  }

  private void check(StoredIndex index) {
    final EntryStore store = index.partition(0);
    int steps = 0;
    for (int i = 0; i < WALKS; i++) {
      for (int j = random.nextInt(300); j > 0; j--) {
        put(store, newKey());
      }
      steps += walk(store, true);
      walk(store, false);
      assertEquals(versions.size(), store.count());
    }
    assertTrue(steps > WALKS, "steps=" + steps);
  }

  @Test
  void aHashWalkHasEachKeyThatIsThereThroughout() {
    check(new HashIndex(memory, 1));
  }

  @Test
  void anOrderedWalkHasEachKeyThatIsThereThroughout() {
    check(new OrderedIndex(memory));
  }

  @Test
  void keysOfAGroupThatSplitsBehindTheWalkCome() {
    final HashIndex index = new HashIndex(memory, 1);
    final EntryStore store = index.partition(0);
    for (int i = 0; i < 2000; i++) {
      put(store, newKey());
    }
    final Map<ByteString, Long> begin = Map.copyOf(versions);
    final EntryWalk walk = new EntryWalk();
    store.step(walk);
    final Set<ByteString> seen = new HashSet<>();
    walk.entries().forEach(entry -> seen.add(entry.getKey()));
    walk.clear();
    for (int i = 0; i < 20_000; i++) { // each group splits several times
      put(store, newKey());
    }
    while (!walk.isDone()) {
      store.step(walk);
      walk.entries().forEach(entry -> seen.add(entry.getKey()));
      walk.clear();
    }
    assertTrue(seen.containsAll(begin.keySet()));
  }

  @Test
  void aStepEndsAfterSoManyBytes() {
    for (final StoredIndex index : List.of(new HashIndex(memory, 1), new OrderedIndex(memory))) {
      final EntryStore store = index.partition(0);
      for (int i = 0; i < 20; i++) {
        final ByteString key = newKey();
        assertEquals(0, store.version(key));
        assertEquals(0, store.reserve(key.size(), 20_000));
        store.put(key, Memories.bytes(random, 20_000), ++version);
        store.grow();
      }
      final EntryWalk walk = new EntryWalk();
      int entries = 0;
      while (!walk.isDone()) {
        store.step(walk);
        assertTrue(walk.entries().size() <= 2, "entries=" + walk.entries().size());
        entries += walk.entries().size();
        walk.clear();
      }
      assertEquals(20, entries);
    }
  }

  @Test
  void anEmptyPartitionEndsAWalk() {
    for (final StoredIndex index : List.of(new HashIndex(memory, 1), new OrderedIndex(memory))) {
      final EntryWalk walk = new EntryWalk();
      index.partition(0).step(walk);
      assertTrue(walk.isDone() && walk.entries().isEmpty());
    }
  }
}
