package dev.ringfetch.index.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.Found;
import dev.ringfetch.index.layout.NodeDescriptor;
import dev.ringfetch.index.layout.OrderedReader;
import dev.ringfetch.index.layout.ReadResult;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Reads an ordered index at each moment between two stores of its owner. */
class InterleavedTreeTest {
  /** Stores that a node's image takes, about. */
  private static final int NODE_STORES = NodeDescriptor.LENGTH / 4 + 1;

  private final Deque<Runnable> script = new ArrayDeque<>();
  private final Found found = new Found();
  private StoreLog log;
  private OrderedStore store;
  private OrderedReader reader;

  /** Another one, which remembers inner nodes. */
  private OrderedReader remembering;

  private long version;

  @BeforeEach
  void open() {
    log = new StoreLog(new Random(1), () -> {});
    log.freeze(true); // stores arrive when the test says so
    final LoggedMemory logged = new LoggedMemory(log, 1);
    final OrderedIndex index = new OrderedIndex(logged.memory);
    store = index.partition(0);
    reader = new OrderedReader(new ScriptedReads(logged.liveReads(), script), index.location());
    remembering = new OrderedReader(logged.liveReads(), index.location(), 16);
    version = 0;
    log.flush();
  }

  private static ByteString key(int number) {
    return ByteString.copyFromUtf8(String.format("%04d", number));
  }

  private void put(int number) {
    assertEquals(0, store.reserve(4, 8));
    store.put(key(number), ByteString.copyFromUtf8(String.format("%08d", ++version)), version);
  }

  /**
   * A read that has the leaf of before, and finds in the block that it refers to a newer value of
   * the key: no later read finds an older one.
   */
  @Test
  void blockIsValidOnceItsLeafIsThere() {
    int newer = 0;
    for (int moment = 0; moment < NODE_STORES + 20; moment++) {
      open();
      put(1);
      log.flush();
      script.clear();
      script.add(() -> {}); // the serving word
      script.add(() -> {}); // the tree word
      script.add(() -> {}); // the leaf
      final int stores = moment;
      script.add(
          () -> {
            put(1); // into another block
            log.flush();
            put(1); // into the first one
            for (int i = 0; i < stores; i++) {
              log.step();
            }
          });
      final ReadResult first = reader.get(key(1), found);
      assertTrue(script.isEmpty());
      if (first == ReadResult.FOUND) {
        final long before = found.version();
        newer += before == 3 ? 1 : 0;
        if (reader.get(key(1), found) == ReadResult.FOUND) {
          assertTrue(found.version() >= before, "moment=" + moment + " before=" + before);
        }
      }
      log.flush();
      assertEquals(ReadResult.FOUND, reader.get(key(1), found));
      assertEquals(3, found.version());
    }
    assertTrue(newer > 0);
  }

  /** At each moment of a split each key is found, unless the owner is at its very leaf. */
  @Test
  void splitHidesNoKey() {
    final int entries = NodeDescriptor.LEAF_ENTRIES;
    for (int i = 0; i < entries; i++) {
      put(2 * i);
    }
    log.flush();
    put(41);
    final int[] undecided = new int[entries];
    int moments = 0;
    do {
      for (int i = 0; i < entries; i += 5) {
        final ReadResult result = reader.get(key(2 * i), found);
        if (result == ReadResult.UNDECIDED) {
          undecided[i]++;
        } else {
          assertEquals(ReadResult.FOUND, result, "moment=" + moments);
          assertEquals(i + 1, found.version());
        }
      }
      moments++;
    } while (log.step());
    assertTrue(moments > 3 * NODE_STORES, "two leaves and a new highest node: " + moments);
    for (int count : undecided) {
      assertTrue(count <= NODE_STORES + 10, "undecided=" + count);
    }
    assertEquals(2, store.height());
    assertEquals(ReadResult.FOUND, reader.get(key(41), found));
  }

  /**
   * At each moment at which entries of a full leaf go to a neighbour, each key is found, unless the
   * owner is at its very leaf or above it; and the added one, once it was found, by all ways.
   */
  @Test
  void neighbourThatTakesEntriesHidesNoKey() {
    final int entries = NodeDescriptor.LEAF_ENTRIES;
    for (final boolean toTheLeft : new boolean[] {true, false}) {
      for (final int added : new int[] {5, 91}) { // near the begin and the end of the leaf
        open();
        for (int i = 0; i < 5 * entries; i++) {
          put(2 * i);
        }
        for (int i = 0; i < entries / 2; i++) {
          assertTrue(store.delete(key(2 * (entries + 2 * i)))); // of the second leaf
        }
        log.flush();
        final int leaf = toTheLeft ? 2 : 0;
        final int first = 2 * leaf * entries;
        assertEquals(ReadResult.FOUND, remembering.get(key(first), new Found()));
        final int height = store.height();
        put(first + added);
        checkEachMoment(first, first + added, toTheLeft);
        assertEquals(height, store.height());
        assertEquals(ReadResult.FOUND, reader.get(key(first + added), found));
      }
    }
  }

  private void checkEachMoment(int first, int added, boolean toTheLeft) {
    final int entries = NodeDescriptor.LEAF_ENTRIES;
    final int[] undecided = new int[entries];
    int moments = 0;
    do {
      for (final int i : new int[] {0, entries / 2, entries - 1}) {
        final ReadResult result = reader.get(key(first + 2 * i), found);
        undecided[i] += result == ReadResult.UNDECIDED ? 1 : 0;
        if (result != ReadResult.UNDECIDED) {
          assertEquals(ReadResult.FOUND, result, "moment=" + moments + " entry=" + i);
        }
      }
      if (reader.get(key(added), found) == ReadResult.FOUND) {
        assertTrue(
            remembering.get(key(added), found) != ReadResult.ABSENT, "absent again: " + moments);
      }
      moments++;
    } while (log.step());
    assertTrue(moments > 3 * NODE_STORES, "two leaves and a node above: " + moments);
    // Those that go wait for the node above, and to the right for their former leaf besides.
    assertTrue(undecided[toTheLeft ? 0 : entries - 1] <= (toTheLeft ? 1 : 2) * NODE_STORES + 30);
    assertTrue(undecided[toTheLeft ? entries - 1 : 0] <= 2 * NODE_STORES + 30);
  }

  /** At each moment of the removal of a leaf, keys beside it are found and its own are absent. */
  @Test
  void removalHidesNoKey() {
    for (int removed = 0; removed < 3; removed++) {
      open();
      for (int i = 0; i < 4 * NodeDescriptor.LEAF_ENTRIES; i++) {
        put(i);
      }
      final int first = removed * NodeDescriptor.LEAF_ENTRIES; // ascending keys fill leaves
      for (int i = first + 1; i < first + NodeDescriptor.LEAF_ENTRIES; i++) {
        assertTrue(store.delete(key(i)));
      }
      log.flush();
      assertTrue(store.delete(key(first)));
      int moments = 0;
      do {
        for (int i = 7; i < 4 * NodeDescriptor.LEAF_ENTRIES; i += 37) {
          final ReadResult result = reader.get(key(i), found);
          final boolean isOfLeaf = i / NodeDescriptor.LEAF_ENTRIES == removed;
          assertTrue(
              result == ReadResult.UNDECIDED
                  || result == (isOfLeaf ? ReadResult.ABSENT : ReadResult.FOUND),
              "moment=" + moments + " key=" + i + " result=" + result);
        }
        moments++;
      } while (log.step());
      assertTrue(moments > 3 * NODE_STORES, "moments=" + moments);
      for (int i = 0; i < 4 * NodeDescriptor.LEAF_ENTRIES; i++) {
        assertEquals(
            i / NodeDescriptor.LEAF_ENTRIES == removed ? ReadResult.ABSENT : ReadResult.FOUND,
            reader.get(key(i), found));
      }
    }
  }
}
