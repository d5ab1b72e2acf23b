package dev.ringfetch.index.store;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.Found;
import dev.ringfetch.index.layout.NodeDescriptor;
import dev.ringfetch.index.layout.OrderedReader;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.layout.ScanCursor;
import dev.ringfetch.index.v1.Entry;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** An ordered store and its reader do what a {@link TreeMap} does. */
class OrderedStoreTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 26);
  private static final int OPERATIONS = Integer.getInteger("ringfetch.operations", 30_000);

  /** Keys whose order is told by different means. */
  enum Keys {
    /** By heads and codes alone. */
    SHORT {
      @Override
      byte[] of(int number) {
        final byte[] key = new byte[1 + number % 8];
        for (int i = 0, rest = number / 8; i < key.length; i++, rest /= 3) {
          key[i] = (byte) (rest % 3 - 1);
        }
        return key;
      }
    },
    /** By blocks: all heads are the same. */
    SAME_HEAD {
      @Override
      byte[] of(int number) {
        return String.format("same head %07d", number * 7919 % 100_003).getBytes(US_ASCII);
      }
    },
    /** By long separators. */
    LONG {
      @Override
      byte[] of(int number) {
        final byte[] key = new byte[1024 - number % 7];
        final byte[] digits = Integer.toString(number, 5).getBytes(US_ASCII);
        System.arraycopy(digits, 0, key, 1000, digits.length);
        return key;
      }
    },
    /** Numbers of 8 bytes. */
    NUMBERS {
      @Override
      byte[] of(int number) {
        return ByteBuffer.allocate(8).putLong(number * 0x9E37_79B9_7F4A_7C15L).array();
      }
    };

    abstract byte[] of(int number);

    ByteString key(int number) {
      return ByteString.copyFrom(of(number));
    }
  }

  private final Random random = new Random(SEED);
  private StoreMemory memory = Memories.serving(1 << 20, 64 << 20);
  private OrderedIndex index = new OrderedIndex(memory);
  private OrderedStore store = index.partition(0);
  private OrderedReader reader = index.newReader();
  private final NavigableMap<ByteString, Entry> model =
      new TreeMap<>(ByteString.unsignedLexicographicalComparator());
  private final Found found = new Found();
  private long version;

  private static ByteString value(long version) {
    return ByteString.copyFromUtf8("v" + version + "x".repeat((int) (version % 40)));
  }

  private void put(ByteString key) {
    final ByteString value = value(++version);
    assertEquals(0, store.reserve(key.size(), value.size()));
    store.put(key, value, version);
    model.put(key, entry(key, value, version));
  }

  private static Entry entry(ByteString key, ByteString value, long version) {
    return Entry.newBuilder().setKey(key).setValue(value).setVersion(version).build();
  }

  private void delete(ByteString key) {
    assertEquals(model.remove(key) != null, store.delete(key));
  }

  private void check(ByteString key) {
    final Entry expected = model.get(key);
    assertEquals(expected == null ? 0 : expected.getVersion(), store.version(key));
    final ReadResult result = reader.get(key, found);
    if (expected == null) {
      assertEquals(ReadResult.ABSENT, result);
    } else {
      assertEquals(ReadResult.FOUND, result);
      assertEquals(expected, entry(key, found.value(), found.version()));
    }
  }

  /** Scans in pieces of some entries, with a new cursor for each. */
  private static List<Entry> scan(
      OrderedReader reader, boolean reverse, ByteString start, ByteString end, int piece) {
    final List<Entry> entries = new ArrayList<>();
    ScanCursor cursor = reverse ? ScanCursor.reverse(start, end) : ScanCursor.forward(start, end);
    while (true) {
      final int[] left = {piece};
      final ReadResult result =
          reader.scan(
              cursor,
              (array, keyOffset, keyLength, valueLength, entryVersion, deadline) -> {
                entries.add(
                    entry(
                        ByteString.copyFrom(array, keyOffset, keyLength),
                        ByteString.copyFrom(array, keyOffset + keyLength, valueLength),
                        entryVersion));
                return --left[0] > 0;
              });
      assertTrue(entries.size() <= 8_000, "more than there are keys");
      if (result == ReadResult.ABSENT) {
        assertTrue(cursor.isDone());
        return entries;
      }
      assertEquals(ReadResult.FOUND, result);
      if (cursor.isDone()) {
        return entries;
      }
      cursor =
          reverse
              ? ScanCursor.reverse(start, cursor.place())
              : ScanCursor.forward(cursor.place(), end);
    }
  }

  private void checkScan(ByteString start, ByteString end) {
    NavigableMap<ByteString, Entry> part = model.tailMap(start, true);
    if (!end.isEmpty()) {
      part =
          ByteString.unsignedLexicographicalComparator().compare(start, end) < 0
              ? part.headMap(end, false)
              : new TreeMap<>();
    }
    final int piece = 1 + random.nextInt(2 * NodeDescriptor.LEAF_ENTRIES);
    assertEquals(List.copyOf(part.values()), scan(reader, false, start, end, piece));
    assertEquals(List.copyOf(part.descendingMap().values()), scan(reader, true, start, end, piece));
  }

  @ParameterizedTest
  @EnumSource(Keys.class)
  void doesWhatTreeMapDoes(Keys keys) {
    System.out.println("ringfetch.seed=" + SEED);
    int highest = 0;
    final int range = 8_000;
    // Nodes have fewer separators where these are long, and each step takes longer.
    final int operations = keys == Keys.SHORT ? OPERATIONS : OPERATIONS / 4;
    for (int i = 0; i < operations; i++) {
      // Grows for a while, then shrinks to almost nothing.
      final boolean shrinks = i / (operations / 6) % 2 == 1;
      final ByteString key = keys.key(random.nextInt(range));
      if (random.nextInt(8) < (shrinks ? 1 : 7)) {
        put(key);
      } else if (shrinks && !model.isEmpty() && random.nextInt(4) > 0) {
        delete(random.nextBoolean() ? model.firstKey() : model.ceilingKey(model.lastKey()));
      } else {
        delete(key);
      }
      highest = Math.max(highest, store.height());
      if (i % 16 == 0) {
        check(keys.key(random.nextInt(range)));
      }
      if (i % (operations / 30) == 0) {
        checkScan(keys.key(random.nextInt(range)), keys.key(random.nextInt(range)));
      }
    }
    checkScan(ByteString.EMPTY, ByteString.EMPTY);
    assertEquals(model.size(), store.count());
    assertTrue(highest >= 3, "height=" + highest);
    for (ByteString key : List.copyOf(model.keySet())) {
      delete(key);
    }
    checkScan(ByteString.EMPTY, ByteString.EMPTY);
    assertEquals(1, store.height());
    drop();
  }

  private void drop() {
    index.drop();
    final OrderedIndex next = new OrderedIndex(memory);
    assertEquals(1 + 1 + 1, memory.usedBytes() / 1024, "the store's begin, a root, a leaf");
    next.drop();
  }

  /** A queue: keys come at one end and go at the other, and memory does not grow. */
  @Test
  void queueUsesNoMoreMemoryWithTime() {
    long usedOnce = 0;
    for (int i = 0; i < 25_000; i++) {
      put(ByteString.copyFromUtf8(String.format("%0200d", i)));
      if (i >= 1000) {
        delete(ByteString.copyFromUtf8(String.format("%0200d", i - 1000)));
      }
      if (i == 4000) {
        usedOnce = memory.usedBytes();
      }
    }
    checkScan(ByteString.EMPTY, ByteString.EMPTY);
    assertTrue(
        memory.usedBytes() <= usedOnce + (32 << 10),
        "used=" + memory.usedBytes() + " once=" + usedOnce);
  }

  /** Leaves of keys in ascending order are full. */
  @Test
  void ascendingKeysFillLeaves() {
    final long before = memory.usedBytes();
    final int entries = 100 * NodeDescriptor.LEAF_ENTRIES;
    for (int i = 0; i < entries; i++) {
      put(ByteString.copyFromUtf8(String.format("%08d", i)));
    }
    final long blocks = entries * 60L;
    assertTrue(memory.usedBytes() - before < blocks + 60 * 1024, "used=" + memory.usedBytes());
  }

  /**
   * Memory for a put is reserved before: however many are outstanding, and whatever they split,
   * none fails. Reads and deletes go on in full memory.
   */
  @ParameterizedTest
  @EnumSource(Keys.class)
  void putsThatAreReservedDoNotFail(Keys keys) {
    memory = Memories.serving(64 << 10, 1 << 20);
    index = new OrderedIndex(memory);
    store = index.partition(0);
    reader = index.newReader();
    for (int round = 0; round < 12; round++) {
      int reserved = 0;
      final int most = 1 + random.nextInt(300);
      final int length = 20;
      while (reserved < most && store.reserve(1024, length) == 0) {
        reserved++;
      }
      // Only now the puts, of keys as long as was reserved for.
      for (int i = 0; i < reserved; i++) {
        final ByteString name = keys.key(random.nextInt(5000));
        final ByteString key = name.concat(ByteString.copyFrom(new byte[1024 - name.size()]));
        final ByteString value = ByteString.copyFrom(new byte[length]);
        store.put(key, value, ++version);
        model.put(key, entry(key, value, version));
      }
      if (store.reserve(1024, length) != 0) { // full
        assertEquals(PartitionStore.FULL, store.reserve(1024, length));
        checkScan(ByteString.EMPTY, ByteString.EMPTY);
        for (ByteString key : List.copyOf(model.keySet())) {
          if (random.nextInt(8) > 0) {
            delete(key);
          }
        }
      } else {
        store.release(1024, length);
      }
      checkScan(ByteString.EMPTY, ByteString.EMPTY);
    }
    for (ByteString key : List.copyOf(model.keySet())) {
      delete(key);
    }
    drop();
  }

  @Test
  void whatIsTooLongIsRefused() {
    memory = Memories.serving(64 << 10, 1 << 20);
    store = new OrderedIndex(memory).partition(0);
    assertEquals(PartitionStore.TOO_LONG, store.reserve(10, 1 << 20));
    assertEquals(PartitionStore.TOO_LONG, store.reserve(10, 2 << 20));
    assertEquals(0, store.reserve(10, 40 << 10));
    store.release(10, 40 << 10);
    assertThrows(IllegalStateException.class, () -> store.release(10, 10));
  }

  @Test
  void aSnapshotHasWhatWasRestoredInTheOrderOfKeys() {
    for (final long restored : new long[] {7, 9, 2}) {
      final ByteString key = ByteString.copyFromUtf8("k" + restored);
      assertEquals(0, store.reserve(key.size(), key.size()));
      store.put(key, key, restored);
    }
    final Snapshot snapshot = new Snapshot(1024);
    store.begin(snapshot);
    assertTrue(snapshot.contains(9));
    snapshot.close();
  }

  @Test
  void closedAndRefusedIndexesTurnReadersAway() {
    put(ByteString.copyFromUtf8("key"));
    assertFalse(index.isRefused());
    index.refuse();
    assertTrue(store.isRefused());
    assertEquals(ReadResult.CLOSED, reader.get(ByteString.copyFromUtf8("key"), found));
    assertEquals(
        ReadResult.CLOSED,
        reader.scan(
            ScanCursor.forward(ByteString.EMPTY, ByteString.EMPTY), (a, o, k, v, n, d) -> true));
    assertNull(store.entry(ByteString.copyFromUtf8("other")));
  }

  /** A reader that remembers inner nodes learns of what has changed. */
  @ParameterizedTest
  @EnumSource(Keys.class)
  void rememberedNodesAreNotTrusted(Keys keys) {
    reader = new OrderedReader(memory.newReads(), index.location(), 64);
    final int rounds = Integer.getInteger("ringfetch.hunt", 0) == 0 ? 2 : 4;
    for (int round = 0; round < rounds; round++) {
      for (int i = 0; i < 1500; i++) {
        put(keys.key(random.nextInt(8000)));
        check(keys.key(random.nextInt(8000)));
      }
      checkScan(ByteString.EMPTY, ByteString.EMPTY);
      for (Map.Entry<ByteString, Entry> each : List.copyOf(model.entrySet())) {
        if (random.nextInt(50) > 0) {
          delete(each.getKey());
          check(each.getKey());
        }
      }
      checkScan(ByteString.EMPTY, ByteString.EMPTY);
    }
  }
}
