package dev.ringfetch.index.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.Found;
import dev.ringfetch.index.layout.HashReader;
import dev.ringfetch.index.layout.KeyHash;
import dev.ringfetch.index.layout.ReadResult;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What keys that were chosen to collide can do, and what not. */
@Timeout(60)
class CollidingKeysTest {
  private static final ByteString VALUE = ByteString.copyFromUtf8("value");

  private final Found found = new Found();
  private HashIndex index;
  private PartitionStore store;
  private HashReader reader;
  private int version;

  private void open(int segmentLength, long budget) {
    final StoreMemory memory = Memories.serving(segmentLength, budget);
    index = new HashIndex(memory, 1);
    store = index.partition(0);
    reader = index.newReader();
  }

  private ByteString key(int number) {
    return CollidingKeys.key(number, index.location().seed());
  }

  private int put(ByteString key, ByteString value) {
    store.version(key);
    final int admitted = store.admit(value.size());
    if (admitted != 0) {
      return admitted;
    }
    assertEquals(0, store.reserve(key.size(), value.size()));
    store.put(key, value, ++version);
    store.grow();
    return 0;
  }

  /** Owner and reader agree, but where the reader leaves the answer to the owner. */
  private Map<ReadResult, Integer> readAll(int keys) {
    final Map<ReadResult, Integer> counts = new EnumMap<>(ReadResult.class);
    for (int i = 0; i < keys; i++) {
      final ReadResult result = reader.get(key(i), found);
      counts.merge(result, 1, Integer::sum);
      if (result == ReadResult.FOUND) {
        assertEquals(store.version(key(i)), found.version());
      } else {
        assertEquals(ReadResult.LIMIT, result);
      }
      assertTrue(store.version(key(i)) > 0);
    }
    return counts;
  }

  @Test
  void chainsAreBounded() {
    open(1 << 20, 16 << 20);
    int keys = 0;
    while (put(key(keys), VALUE) == 0) {
      keys++;
      assertTrue(keys <= PartitionStore.MAX_COLLISIONS + 28, "keys=" + keys);
    }
    assertEquals(PartitionStore.TOO_MANY_COLLISIONS, put(key(keys), VALUE));
    assertTrue(store.excess() >= PartitionStore.MAX_COLLISIONS, "excess=" + store.excess());
    assertTrue(keys >= PartitionStore.MAX_COLLISIONS, "keys=" + keys);
    final Map<ReadResult, Integer> counts = readAll(keys);
    System.out.println("keys=" + keys + " " + counts);
    assertEquals(keys, counts.get(ReadResult.LIMIT), "looked at more blocks than a reader may");
    assertEquals(ReadResult.LIMIT, reader.get(key(keys), found));
    assertEquals(0, store.version(key(keys)));
    for (int i = 0; i < 1000; i++) { // others notice nothing
      final ByteString other = ByteString.copyFromUtf8("other " + i);
      assertEquals(0, put(other, VALUE));
      assertEquals(ReadResult.FOUND, reader.get(other, found));
    }
    assertEquals(0, put(key(7), VALUE), "an overwrite");
    assertTrue(store.delete(key(8)));
    assertEquals(0, put(key(keys), VALUE), "in place of a deleted one");
    assertEquals(PartitionStore.TOO_MANY_COLLISIONS, put(key(keys + 1), VALUE));
  }

  /** A put that was admitted before others filled the chain finds room all the same. */
  @Test
  void admittedPutsHold() {
    open(1 << 20, 16 << 20);
    final int more = 200;
    for (int i = 0; i < PartitionStore.MAX_COLLISIONS + more; i++) {
      assertEquals(0, store.reserve(16, VALUE.size()));
    }
    for (int i = 0; i < PartitionStore.MAX_COLLISIONS + more; i++) {
      store.put(key(i), VALUE, i + 1);
    }
    readAll(PartitionStore.MAX_COLLISIONS + more);
  }

  @Test
  void longBlocksAreBounded() {
    open(16 << 20, 64 << 20);
    final ByteString value = ByteString.copyFrom(new byte[1 << 20]);
    int keys = 0;
    while (put(key(keys), value) == 0) {
      keys++;
    }
    assertEquals(PartitionStore.COLLISIONS_TOO_LONG, put(key(keys), value));
    assertTrue(store.excess() > PartitionStore.MAX_COLLISION_BYTES, "excess=" + store.excess());
    assertTrue(keys >= 7, "keys=" + keys);
    final Map<ReadResult, Integer> counts = readAll(keys);
    assertEquals(keys, counts.get(ReadResult.FOUND), "found without a look at the others' bytes");
    assertEquals(ReadResult.LIMIT, reader.get(key(keys), found));
    assertEquals(0, put(key(keys), VALUE), "a short one");
  }

  /** An overwrite counts the others' bytes, wherever its key stands among them. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void longBlocksAreBoundedWhereKeysAreOverwritten(boolean fromTheLast) {
    open(16 << 20, 64 << 20);
    final int keys = 30;
    for (int i = 0; i < keys; i++) {
      assertEquals(0, put(key(i), VALUE));
    }
    final ByteString value = ByteString.copyFrom(new byte[1 << 20]);
    int written = 0;
    for (int i = 0; i < keys; i++) {
      final int outcome = put(key(fromTheLast ? keys - 1 - i : i), value);
      assertEquals(written < 7 ? 0 : PartitionStore.COLLISIONS_TOO_LONG, outcome, "number=" + i);
      written += outcome == 0 ? 1 : 0;
    }
  }

  /** Chance never comes near the limits, not even where tables cannot grow any more. */
  @Test
  void keysOfChanceAreAdmitted() {
    open(64 << 10, 4 << 20);
    int keys = 0;
    int admitted = 0;
    while (admitted == 0) {
      final ByteString key = ByteString.copyFromUtf8("key " + keys);
      assertEquals(0, store.version(key));
      admitted = store.admit(VALUE.size());
      assertEquals(0, admitted);
      if (store.reserve(key.size(), VALUE.size()) != 0) {
        break;
      }
      store.put(key, VALUE, ++keys);
    }
    assertTrue(keys > 20_000, "keys=" + keys);
  }

  /** A key that takes the slot and the block of another one is learnt anew. */
  @Test
  void slotThatChangesWhileItsGroupIsLearntIsLearntAgain() {
    open(16 << 20, 64 << 20);
    final ByteString longValue = ByteString.copyFrom(new byte[300_000]); // a piece of growth each
    final List<ByteString> keys = new ArrayList<>();
    for (int i = 0; i < 29; i++) {
      keys.add(ByteString.copyFromUtf8("key " + i));
      store.version(keys.get(i));
      assertEquals(0, store.reserve(keys.get(i).size(), longValue.size()));
      store.put(keys.get(i), longValue, ++version);
    }
    for (int i = 0; i < 8; i++) {
      assertTrue(store.grow(), "a piece is a block");
    }
    for (int i = 0; i < keys.size(); i++) {
      final ByteString twin = twin(keys.get(i), 3_000 * i);
      assertTrue(store.delete(keys.get(i)));
      assertEquals(0, store.reserve(twin.size(), longValue.size()));
      store.put(twin, longValue, ++version);
      keys.set(i, twin);
    }
    while (store.grow()) {
      keys.forEach(key -> assertTrue(store.version(key) > 0));
    }
    for (ByteString key : keys) {
      assertTrue(store.version(key) > 0);
      assertEquals(ReadResult.FOUND, reader.get(key, found));
    }
  }

  /** A key as long, with the same fingerprint and sides, that goes elsewhere at the first split. */
  private ByteString twin(ByteString key, int from) {
    final long hash = hash(key);
    for (int i = from; ; i++) {
      final ByteString twin =
          ByteString.copyFromUtf8(
              String.format("%0" + key.size() + "d", i).substring(0, key.size()));
      final long other = hash(twin);
      if (KeyHash.fingerprint(other) == KeyHash.fingerprint(hash)
          && KeyHash.side(KeyHash.half(other, 0)) == KeyHash.side(KeyHash.half(hash, 0))
          && KeyHash.side(KeyHash.half(other, 1)) == KeyHash.side(KeyHash.half(hash, 1))
          && ((other ^ hash) & 1) == 1) {
        return twin;
      }
    }
  }

  private long hash(ByteString key) {
    return KeyHash.of(key.toByteArray(), 0, key.size(), index.location().seed());
  }

  /** Long chains and long blocks are split in pieces, each bounded, and writes go on between. */
  @Test
  void splitsOfLongGroupsAreCutIntoPieces() {
    open(16 << 20, 256 << 20);
    for (int i = 0; i < 200; i++) {
      assertEquals(0, put(key(i), VALUE));
    }
    final ByteString longValue = ByteString.copyFrom(new byte[300_000]);
    for (int i = 0; i < 500; i++) {
      final ByteString key = ByteString.copyFromUtf8("long " + i);
      assertEquals(0, put(key, longValue));
      if (i % 3 == 0) {
        assertEquals(0, put(key(i % 200), ByteString.copyFromUtf8("new " + i)));
      } else if (i % 7 == 0) {
        assertTrue(store.delete(key));
        assertEquals(ReadResult.ABSENT, reader.get(key, found));
        assertEquals(0, put(key, VALUE));
      }
      final ByteString earlier = ByteString.copyFromUtf8("long " + i / 2);
      assertEquals(ReadResult.FOUND, reader.get(earlier, found));
      assertEquals(store.entry(earlier).getValue(), found.value());
    }
    readAll(200);
    for (int i = 0; i < 500; i++) {
      assertEquals(ReadResult.FOUND, reader.get(ByteString.copyFromUtf8("long " + i), found));
    }
  }
}
