package dev.ringfetch.index.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.Found;
import dev.ringfetch.index.layout.HashReader;
import dev.ringfetch.index.layout.KeyHash;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.v1.Entry;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares a partition and its reader with a map. */
class PartitionStoreTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 26);

  private final Random random = new Random(SEED);
  private final Map<ByteString, Entry> expected = new HashMap<>();
  private final Found found = new Found();
  private StoreMemory memory;
  private HashIndex index;
  private PartitionStore store;
  private HashReader reader;
  private long version = 1L << 40;

  @BeforeEach
  void printSeed() {
    System.out.println("ringfetch.seed=" + SEED);
  }

  private void open(int segmentLength, long budget) {
    memory = Memories.serving(segmentLength, budget);
    index = new HashIndex(memory, 1);
    store = index.partition(0);
    reader = index.newReader();
  }

  private boolean put(ByteString key, ByteString value) {
    final int reserved = store.reserve(key.size(), value.size());
    if (reserved < 0) {
      assertEquals(PartitionStore.FULL, reserved);
      return false;
    }
    store.put(key, value, ++version);
    store.grow();
    expected.put(key, Entry.newBuilder().setKey(key).setValue(value).setVersion(version).build());
    return true;
  }

  private void delete(ByteString key) {
    assertEquals(expected.remove(key) != null, store.delete(key));
  }

  private void check(ByteString key) {
    final Entry entry = expected.get(key);
    assertEquals(entry, store.entry(key));
    assertEquals(entry == null ? 0 : entry.getVersion(), store.version(key));
    final ReadResult result = reader.get(key, found);
    if (entry == null) {
      assertEquals(ReadResult.ABSENT, result);
    } else {
      assertEquals(ReadResult.FOUND, result);
      assertEquals(entry.getValue(), found.value());
      assertEquals(entry.getVersion(), found.version());
    }
  }

  private void checkAll() {
    assertEquals(expected.size(), store.count());
    expected.keySet().forEach(this::check);
  }

  @Test
  void aReaderThatMissedDoublingsFindsAll() {
    open(1 << 20, 64 << 20);
    final int first = 100;
    for (int i = 0; i < first; i++) {
      put(key(i), key(i));
    }
    checkAll(); // the reader knows of so many groups
    for (int i = first; i < 300 * first; i++) {
      put(key(i), key(i));
    }
    checkAll();
  }

  private static ByteString key(int number) {
    final byte[] digits = new byte[10];
    for (int i = 9, rest = number; i >= 0; i--, rest /= 10) {
      digits[i] = (byte) ('0' + rest % 10);
    }
    return ByteString.copyFrom(digits);
  }

  @ParameterizedTest
  @ValueSource(ints = {64 << 10, 1 << 20})
  void growsFromNothing(int segmentLength) {
    open(segmentLength, 64L << 20);
    final int entries = Integer.getInteger("ringfetch.hunt", 0) == 0 ? 40_000 : 100_000;
    for (int i = 0; i < entries; i++) {
      assertTrue(put(key(i), Memories.bytes(random, random.nextInt(40))));
      if (i % 8 == 0) {
        check(key(random.nextInt(i + 1)));
        check(key(entries + random.nextInt(entries)));
      }
    }
    checkAll();
    for (int i = 0; i < entries; i++) {
      check(key(entries + i));
      delete(key(i));
      assertNull(store.entry(key(i)));
    }
    assertEquals(0, store.count());
  }

  @Test
  void equalsAMap() {
    open(1 << 20, 32L << 20);
    final int keys = 2000;
    for (int i = 0; i < 60_000; i++) {
      final ByteString key = key(random.nextInt(keys));
      final int what = random.nextInt(10);
      if (what < 5) {
        final int longest = random.nextInt(50) == 0 ? 50_000 : random.nextInt(3) == 0 ? 900 : 100;
        assertTrue(put(key, Memories.bytes(random, random.nextInt(longest))));
      } else if (what < 7) {
        delete(key);
      } else if (what < 8) {
        final int valueLength = random.nextInt(1000);
        assertEquals(0, store.reserve(key.size(), valueLength));
        store.release(key.size(), valueLength);
      }
      check(key);
      check(key(random.nextInt(keys)));
    }
    checkAll();
  }

  @Test
  void longKeysAndValues() {
    open(4 << 20, 64L << 20);
    final List<ByteString> keys = new ArrayList<>();
    for (int length : new int[] {0, 1, 31, 32, 127, 128, 255, 256, 257, 1023, 1024}) {
      for (int valueLength : new int[] {0, 127, 128, 4096, 16_383, 16_384, 1 << 20}) {
        final ByteString key = length == 0 ? ByteString.EMPTY : Memories.bytes(random, length);
        keys.add(key);
        assertTrue(put(key, Memories.bytes(random, valueLength)));
        check(key);
      }
    }
    checkAll();
    keys.forEach(this::delete);
    keys.forEach(this::check);
    assertEquals(PartitionStore.TOO_LONG, store.reserve(1024, 1 << 21));
    assertEquals(PartitionStore.TOO_LONG, store.reserve(Integer.MAX_VALUE, Integer.MAX_VALUE));
  }

  /** Full memory takes no put; deletes make room again, for entries of any length. */
  @Test
  void fullMemory() {
    open(64 << 10, 1 << 20);
    for (int round = 0; round < 4; round++) {
      final int length = new int[] {32, 3000, 100, 20_000}[round];
      int entries = 0;
      while (put(key(entries), Memories.bytes(random, length))) {
        entries++;
      }
      // Tables do not shrink: what they took is between the long blocks.
      final int least = round == 0 || round == 3 ? 1 << 18 : 1 << 19;
      assertTrue((long) entries * length > least, "entries=" + entries);
      assertFalse(put(key(0), Memories.bytes(random, length)));
      checkAll();
      assertTrue(memory.usedBytes() <= memory.budget());
      final List<ByteString> keys = new ArrayList<>(expected.keySet());
      delete(keys.get(0));
      assertTrue(put(keys.get(0), Memories.bytes(random, length)));
      keys.forEach(this::delete);
      keys.forEach(this::check);
    }
  }

  /** A put that has a reservation finds room, however many puts came in between. */
  @Test
  void reservationsHold() {
    open(64 << 10, 1 << 20);
    int reserved = 0;
    while (store.reserve(10, 50) == 0) {
      reserved++;
    }
    assertTrue(reserved > 1000, "reserved=" + reserved);
    for (int i = 0; i < reserved; i++) {
      final ByteString key = ByteString.copyFromUtf8(String.format("%010d", i));
      final ByteString value = Memories.bytes(random, 50);
      store.put(key, value, ++version);
      expected.put(key, Entry.newBuilder().setKey(key).setValue(value).setVersion(version).build());
    }
    checkAll();
    assertThrows(IllegalStateException.class, () -> store.put(key(1), ByteString.EMPTY, ++version));
  }

  /** Where a table cannot grow, keys that find no room in their buckets go to spills. */
  @Test
  void spills() {
    open(64 << 10, 4 << 20);
    final Random keys = new Random(SEED);
    final List<ByteString> same = new ArrayList<>();
    // More keys than two combined buckets have slots, and all of the same ones of a few groups.
    while (same.size() < 300) {
      final ByteString key = Memories.bytes(keys, 16);
      final long hash = KeyHash.of(key.toByteArray(), 0, 16, index.location().seed());
      if ((hash & 0xF) == 3 && (KeyHash.half(hash, 1) & 0xF) == 5) {
        same.add(key);
      }
    }
    for (ByteString key : same) {
      assertTrue(put(key, key));
      check(key);
    }
    for (int i = 0; i < 5000; i++) {
      assertTrue(put(key(i), key(i)));
      final ByteString key = same.get(random.nextInt(same.size()));
      if (random.nextBoolean()) {
        assertTrue(put(key, Memories.bytes(random, random.nextInt(60))));
      } else {
        delete(key);
      }
      check(key);
      check(same.get(random.nextInt(same.size())));
    }
    checkAll();
    same.forEach(this::check);
  }

  @Test
  void droppedIndexesGiveTheirMemoryBack() {
    open(64 << 10, 1 << 20);
    put(key(1), key(2));
    index.drop();
    assertEquals(ReadResult.CLOSED, reader.get(key(1), found));
    long used = 0;
    for (int i = 0; i < 200; i++) {
      final HashIndex next = new HashIndex(memory, 2);
      final HashReader nextReader = next.newReader();
      for (int k = 0; k < 500; k++) {
        final PartitionStore partition = next.partition(next.partitionOf(key(k)));
        assertEquals(0, partition.reserve(key(k).size(), 100));
        partition.put(key(k), Memories.bytes(random, 100), k + 1);
        assertEquals(ReadResult.FOUND, nextReader.get(key(k), found));
      }
      assertEquals(500, next.count());
      next.drop();
      assertEquals(ReadResult.CLOSED, nextReader.get(key(1), found));
      if (i == 0) {
        used = memory.usedBytes();
      }
      assertEquals(used, memory.usedBytes());
    }
    assertThrows(
        StoreFullException.class,
        () -> {
          while (true) {
            new HashIndex(memory, 4);
          }
        });
    assertTrue(memory.usedBytes() <= memory.budget());
  }

  @Test
  void keysWithOneTagShareAPartition() {
    open(64 << 10, 8 << 20);
    final HashIndex tagged = new HashIndex(memory, 64);
    final HashReader taggedReader = tagged.newReader();
    final Set<Integer> used = new HashSet<>();
    for (int tag = 0; tag < 20; tag++) {
      final ByteString begin = ByteString.copyFromUtf8("{tag" + tag + "}");
      final int number = tagged.partitionOf(begin);
      used.add(number);
      final PartitionStore partition = tagged.partition(number);
      for (int i = 0; i < 200; i++) {
        final ByteString key = begin.concat(key(i));
        assertEquals(number, tagged.partitionOf(key));
        assertTrue(partition.reserve(key.size(), 10) >= 0);
        partition.put(key, key(i), i + 1);
        partition.grow();
        assertEquals(ReadResult.FOUND, taggedReader.get(key, found));
        assertEquals(key(i), found.value());
      }
    }
    assertTrue(used.size() > 10, "partitions=" + used);
  }

  @Test
  void batches() {
    open(64 << 10, 4 << 20);
    for (int i = 0; i < 1000; i++) {
      put(key(2 * i), key(i));
    }
    final List<ByteString> keys = new ArrayList<>();
    for (int i = 0; i < 150; i++) {
      keys.add(key(random.nextInt(2000)));
    }
    final Found[] values = new Found[keys.size()];
    Arrays.setAll(values, unused -> new Found());
    final ReadResult[] results = new ReadResult[keys.size()];
    reader.batchGet(keys, values, results);
    for (int i = 0; i < keys.size(); i++) {
      final Entry entry = expected.get(keys.get(i));
      assertEquals(entry == null ? ReadResult.ABSENT : ReadResult.FOUND, results[i]);
      if (entry != null) {
        assertEquals(entry.getValue(), values[i].value());
        assertEquals(entry.getVersion(), values[i].version());
      }
    }
  }

  @Test
  void tablesThatExpectEntriesNeedNotGrow() {
    open(1 << 20, 64 << 20);
    index.expect(20_000);
    final long expectedBytes = memory.usedBytes();
    assertTrue(expectedBytes > 20_000 * Long.BYTES, "bytes=" + expectedBytes);
    for (int i = 0; i < 20_000; i++) {
      final ByteString key = ByteString.copyFromUtf8("key" + i);
      assertEquals(0, store.reserve(key.size(), 0));
      store.put(key, ByteString.EMPTY, i + 1);
      assertFalse(store.grow());
    }
    for (int i = 0; i < 20_000; i++) {
      assertEquals(i + 1, store.version(ByteString.copyFromUtf8("key" + i)));
    }
  }

  @Test
  void moreEntriesMayBeExpectedThanThereIsMemoryFor() {
    open(1 << 20, 4 << 20);
    index.expect(1L << 40);
    assertTrue(memory.usedBytes() <= memory.budget());
    assertEquals(0, store.version(ByteString.copyFromUtf8("key")));
  }
}
