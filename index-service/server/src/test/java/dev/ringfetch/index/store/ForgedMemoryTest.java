package dev.ringfetch.index.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.index.layout.Found;
import dev.ringfetch.index.layout.GroupDescriptor;
import dev.ringfetch.index.layout.HashLocation;
import dev.ringfetch.index.layout.HashReader;
import dev.ringfetch.index.layout.KeyHash;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.layout.RootDescriptor;
import dev.ringfetch.index.layout.SegmentReads;
import dev.ringfetch.index.layout.SizeClasses;
import dev.ringfetch.index.layout.StoreDescriptor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;

/** Reads memory that an owner did not write so. */
class ForgedMemoryTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 26);
  private static final int SHIFT = 20;
  private static final int SEGMENTS = 10;

  private final Random random = new Random(SEED);
  private final List<MemoryRegion> regions = new ArrayList<>();
  private final MemoryRegion gate = Memories.openGate();
  private final Found found = new Found();

  private StoreMemory memory() throws IOException {
    return new StoreMemory(
        Memories.context(1 << SHIFT, (long) SEGMENTS << SHIFT)
            .gate(gate, 0)
            .segmentSource(Memories.noting(regions, DirectRegion::new)));
  }

  private MemoryRegion segment(long number) {
    return number >= 0 && number < regions.size() ? regions.get((int) number) : null;
  }

  private static void put(HashIndex index, ByteString key, ByteString value, long version) {
    final PartitionStore store = index.partition(index.partitionOf(key));
    assertEquals(0, store.reserve(key.size(), value.size()));
    store.put(key, value, version);
  }

  /** Address of the one slot in use of an index with one entry. */
  private long slotAddress(HashIndex index, ByteString key) {
    final long fingerprint =
        KeyHash.fingerprint(KeyHash.of(key.toByteArray(), 0, key.size(), index.location().seed()));
    for (int s = 0; s < regions.size(); s++) {
      for (int i = 1024; i < 1 << SHIFT; i += 8) {
        final long word = regions.get(s).getLong(i);
        if (GroupDescriptor.fingerprint(word) == fingerprint
            && GroupDescriptor.sizeClass(word) == SizeClasses.of(12 + 3 + 5)
            && GroupDescriptor.address(word) < (long) SEGMENTS << SHIFT) {
          return ((long) s << SHIFT) + i;
        }
      }
    }
    throw new AssertionError("no slot");
  }

  /** A block counts only at its own address and in its own index. */
  @Test
  void blocksOfOtherPlacesAreNotAccepted() throws IOException {
    final StoreMemory memory = memory();
    memory.serve();
    final HashIndex one = new HashIndex(memory, 1);
    final ByteString key = ByteString.copyFromUtf8("key");
    put(one, key, ByteString.copyFromUtf8("value"), 1);
    final long slotOfOne = slotAddress(one, key);
    final long slot = memory.region(slotOfOne).getLong(memory.offset(slotOfOne));
    final HashReader reader = one.newReader();
    assertEquals(ReadResult.FOUND, reader.get(key, found));

    final long address = GroupDescriptor.address(slot);
    final byte[] block = new byte[20];
    memory.region(address).getBytes(memory.offset(address), block, 0, 20);
    final long elsewhere = ((long) memory.segments() << SHIFT) - 64;
    memory.region(elsewhere).putBytes(memory.offset(elsewhere), block, 0, 20);
    memory
        .region(slotOfOne)
        .putLong(
            memory.offset(slotOfOne),
            GroupDescriptor.slot(
                GroupDescriptor.fingerprint(slot), GroupDescriptor.sizeClass(slot), elsewhere));
    assertEquals(ReadResult.UNDECIDED, reader.get(key, found), "block at another address");

    memory.region(slotOfOne).putLong(memory.offset(slotOfOne), 0);
    final HashIndex two = new HashIndex(memory, 1);
    put(two, key, ByteString.copyFromUtf8("eulav"), 1);
    final long slotOfTwo = slotAddress(two, key);
    final long second = memory.region(slotOfTwo).getLong(memory.offset(slotOfTwo));
    assertEquals(ReadResult.FOUND, two.newReader().get(key, found));
    memory
        .region(slotOfTwo)
        .putLong(
            memory.offset(slotOfTwo),
            GroupDescriptor.slot(
                GroupDescriptor.fingerprint(second), GroupDescriptor.sizeClass(second), address));
    assertEquals(ReadResult.UNDECIDED, two.newReader().get(key, found), "block of another index");
  }

  /** A reader's memory grows for a verified block alone, whatever a slot or a header says. */
  @Test
  void damagedLongBlocksTakeNoMemory() throws IOException {
    final StoreMemory memory = memory();
    memory.serve();
    final HashIndex index = new HashIndex(memory, 1);
    final ByteString key = ByteString.copyFromUtf8("key");
    final byte[] value = new byte[200_000];
    random.nextBytes(value);
    put(index, key, ByteString.copyFrom(value), 1);
    final HashReader reader = index.newReader();
    assertEquals(ReadResult.FOUND, reader.get(key, found));
    assertEquals(ByteString.copyFrom(value), found.value());
    final long middle = Long.reverseBytes(ByteBuffer.wrap(value).getLong(100_000));
    for (MemoryRegion region : regions) {
      for (int i = 0; i < region.length() - 8; i += 8) {
        final byte[] bytes = new byte[16];
        region.getBytes(i, bytes, 0, 16);
        for (int at = 0; at < 8; at++) {
          if (ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong(at) == middle) {
            region.putLong(i, 0);
          }
        }
      }
    }
    final Found fresh = new Found();
    final ReadResult result = reader.get(key, fresh);
    assertTrue(result == ReadResult.UNDECIDED || result == ReadResult.LIMIT, "result=" + result);
    assertTrue(fresh.array().length < 10_000, "length=" + fresh.array().length);
  }

  @Test
  void closedWords() throws IOException {
    final StoreMemory memory = memory();
    final HashIndex index = new HashIndex(memory, 4);
    final ByteString key = ByteString.copyFromUtf8("key");
    put(index, key, key, 1);
    final HashReader reader = index.newReader();
    assertEquals(ReadResult.CLOSED, reader.get(key, found), "not serving yet");
    memory.serve();
    assertEquals(ReadResult.FOUND, reader.get(key, found));
    for (long value : new long[] {0, Memories.INCARNATION + 1}) {
      gate.putLong(0, value);
      assertEquals(ReadResult.CLOSED, reader.get(key, found), "gate=" + value);
      assertEquals(ReadResult.CLOSED, reader.get(ByteString.copyFromUtf8("other"), found));
    }
    gate.putLong(0, Memories.INCARNATION);
    assertEquals(ReadResult.FOUND, reader.get(key, found));
    index.drop();
    assertEquals(ReadResult.CLOSED, reader.get(key, found));
  }

  /** Nothing in memory makes a reader throw or hang. */
  @Test
  void randomMemory() throws IOException {
    System.out.println("ringfetch.seed=" + SEED);
    for (int s = 0; s < SEGMENTS; s++) {
      final MemoryRegion region = new DirectRegion(1 << SHIFT);
      for (int i = 0; i < 1 << SHIFT; i += 8) {
        // Some words are addresses in range, some are headers of live groups, some are 0.
        final int dice = random.nextInt(16);
        region.putLong(
            i,
            dice < 4
                ? random.nextInt(SEGMENTS << SHIFT) & ~3
                : dice < 6
                    ? GroupDescriptor.header(random.nextInt(8), random.nextInt(32))
                    : dice < 7 ? 0 : random.nextLong());
      }
      regions.add(region);
    }
    regions.get(0).putLong(StoreDescriptor.SERVING_OFFSET, Memories.INCARNATION);
    final Map<ReadResult, Integer> counts = new EnumMap<>(ReadResult.class);
    final List<ByteString> keys = new ArrayList<>();
    final Found[] values = new Found[8];
    final ReadResult[] results = new ReadResult[values.length];
    for (int i = 0; i < values.length; i++) {
      keys.add(Memories.bytes(random, 1 + random.nextInt(40)));
      values[i] = new Found();
    }
    Assertions.assertTimeoutPreemptively(
        Duration.ofSeconds(60),
        () -> {
          for (int round = 0; round < 1000; round++) {
            final long root = (random.nextInt(SEGMENTS << SHIFT) & ~7) + 8L;
            final MemoryRegion region = segment(root >>> SHIFT);
            if (region != null) {
              region.putLong(
                  ((int) root & ((1 << SHIFT) - 1)) + RootDescriptor.OPEN_OFFSET,
                  Memories.INCARNATION);
            }
            final HashLocation location =
                new HashLocation(
                    Memories.INCARNATION,
                    root,
                    Memories.INCARNATION,
                    random.nextLong(),
                    1 << random.nextInt(9));
            final HashReader reader =
                new HashReader(new SegmentReads(this::segment, SHIFT, gate, 0), location);
            for (ByteString key : keys) {
              final ReadResult result = reader.get(key, found);
              assertNotEquals(ReadResult.FOUND, result);
              counts.merge(result, 1, Integer::sum);
            }
            reader.batchGet(keys, values, results);
          }
        });
    System.out.println("random memory: " + counts);
    assertTrue(counts.get(ReadResult.UNDECIDED) > 1000, counts::toString);
  }

  /** Damage makes values unreachable; it does not change any, and no reader throws or hangs. */
  @Test
  void damagedMemory() throws IOException {
    System.out.println("ringfetch.seed=" + SEED);
    final StoreMemory memory = memory();
    memory.serve();
    final HashIndex index = new HashIndex(memory, 2);
    final List<ByteString> keys = new ArrayList<>();
    for (int i = 0; i < 5000; i++) {
      keys.add(ByteString.copyFromUtf8("key " + i));
      put(index, keys.get(i), ByteString.copyFromUtf8("value " + i), i + 1);
    }
    final long root = index.location().root();
    final byte[] whole = new byte[RootDescriptor.length(index.location().partitions())];
    memory.region(root).getBytes(memory.offset(root), whole, 0, whole.length);
    final Map<ReadResult, Integer> counts = new EnumMap<>(ReadResult.class);
    Assertions.assertTimeoutPreemptively(
        Duration.ofSeconds(60),
        () -> {
          for (int round = 0; round < 16; round++) {
            for (int i = 0; i < 4000; i++) {
              final MemoryRegion region = regions.get(random.nextInt(regions.size()));
              final int at = 1024 + (random.nextInt((1 << SHIFT) - 1024) & ~7);
              final long word = region.getLong(at);
              region.putLong(
                  at, random.nextBoolean() ? random.nextLong() : word ^ (1L << random.nextInt(64)));
            }
            // The root, without which nothing is found, is whole in each other round.
            final int mended = round % 2 == 0 ? whole.length : Long.BYTES;
            memory.region(root).putBytes(memory.offset(root), whole, 0, mended);
            final HashReader reader = index.newReader();
            for (int i = 0; i < 700; i++) {
              final int key = random.nextInt(keys.size());
              final ReadResult result = reader.get(keys.get(key), found);
              counts.merge(result, 1, Integer::sum);
              if (result == ReadResult.FOUND) {
                assertEquals(key + 1, found.version());
                assertEquals("value " + key, found.value().toStringUtf8());
              }
            }
          }
        });
    System.out.println("damaged memory: " + counts);
    assertTrue(counts.get(ReadResult.FOUND) > 100, counts::toString);
    assertTrue(counts.get(ReadResult.UNDECIDED) > 1000, counts::toString);
  }
}
