package dev.ringfetch.index.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.Found;
import dev.ringfetch.index.layout.HashReader;
import dev.ringfetch.index.layout.ReadResult;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Measures the store with a million entries of 16 and 32 bytes. */
class StoreFiguresTest {
  private static final int ENTRIES = 1_000_000;
  private static final int PARTITIONS = 16;
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private static ByteString key(int number) {
    return ByteString.copyFrom(
        ByteBuffer.allocate(16).putLong(0x6B65_792D_6B65_792DL).putLong(number).array());
  }

  /** The space that an entry takes, at several counts: tables grow, so it varies. */
  @Test
  void bytesPerEntry() {
    final StoreMemory memory = Memories.serving(1 << 20, 512 << 20);
    final HashIndex index = new HashIndex(memory, PARTITIONS);
    final ByteString value = ByteString.copyFrom(new byte[32]);
    double most = 0;
    for (int i = 0; i < ENTRIES / 5; i++) {
      final ByteString key = key(i);
      final PartitionStore store = index.partition(index.partitionOf(key));
      assertEquals(0, store.reserve(16, 32));
      store.put(key, value, i + 1);
      store.grow();
      if (i >= 100_000 && i % 10_000 == 0) {
        most = Math.max(most, (double) memory.usedBytes() / (i + 1));
      }
    }
    System.out.printf("most bytes per entry from 100,000 to 200,000 entries: %.1f%n", most);
    assertTrue(most <= 78, "most=" + most);
  }

  @Test
  @Tag("timing")
  void speed() {
    for (int round = 0; round < 3; round++) {
      final StoreMemory memory = Memories.serving(64 << 20, 1L << 30);
      final HashIndex index = new HashIndex(memory, PARTITIONS);
      final ByteString value = ByteString.copyFrom(new byte[32]);
      final ByteString[] keys = new ByteString[ENTRIES];
      Arrays.setAll(keys, StoreFiguresTest::key);
      final long[] growNs = new long[ENTRIES];
      final long begin = System.nanoTime();
      for (int i = 0; i < ENTRIES; i++) {
        final PartitionStore store = index.partition(index.partitionOf(keys[i]));
        assertEquals(0, store.reserve(16, 32));
        store.put(keys[i], value, i + 1);
        if (i % 2 == 0) { // of the thread's own time: the machine may be busy
          final long before = THREADS.getCurrentThreadCpuTime();
          store.grow();
          growNs[i] = THREADS.getCurrentThreadCpuTime() - before;
        } else {
          store.grow();
        }
      }
      final long putNs = System.nanoTime() - begin;
      Arrays.sort(growNs);
      System.out.printf(
          "1,000,000 puts: %d ms; longest grow steps: %d, %d, %d us; p99.9 %d us; %.1f B an entry%n",
          putNs / 1_000_000,
          growNs[ENTRIES - 1] / 1000,
          growNs[ENTRIES - 2] / 1000,
          growNs[ENTRIES - 10] / 1000,
          growNs[ENTRIES - ENTRIES / 1000] / 1000,
          (double) memory.usedBytes() / ENTRIES);
      final HashReader reader = index.newReader();
      final Found found = new Found();
      final Random random = new Random(1);
      final long[] getNs = new long[ENTRIES];
      final byte[][] bytes = new byte[ENTRIES][];
      for (int i = 0; i < ENTRIES; i++) {
        bytes[i] = keys[random.nextInt(ENTRIES)].toByteArray();
      }
      final long gets = System.nanoTime();
      for (int i = 0; i < ENTRIES; i++) {
        final long before = System.nanoTime();
        final ReadResult result = reader.get(bytes[i], 0, 16, found);
        getNs[i] = System.nanoTime() - before;
        assertEquals(ReadResult.FOUND, result);
      }
      final long allNs = System.nanoTime() - gets;
      Arrays.sort(getNs);
      System.out.printf(
          "get: p50 %d ns, p99 %d ns, mean %d ns%n",
          getNs[ENTRIES / 2], getNs[ENTRIES - ENTRIES / 100], allNs / ENTRIES);
    }
  }
}
