package dev.ringfetch.index.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.MappedRegion;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.index.layout.BlockDescriptor;
import dev.ringfetch.index.layout.Found;
import dev.ringfetch.index.layout.HashReader;
import dev.ringfetch.index.layout.KeyHash;
import dev.ringfetch.index.layout.ReadResult;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.IntToLongFunction;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

  /**
   * Measures the stages of a Get by themselves, and whole: of one key, whose lines are in the
   * cache, and of random keys in files of shared memory. A mean of the best of some rounds each.
   */
  @Test
  @Tag("timing")
  void stages() {
    final StoreMemory memory =
        Memories.serving(
            Memories.context(16 << 20, 256L << 20).segmentSource(StoreFiguresTest::shared));
    final HashIndex index = new HashIndex(memory, PARTITIONS);
    final ByteString value = ByteString.copyFrom(new byte[32]);
    for (int i = 0; i < ENTRIES; i++) {
      final ByteString key = key(i);
      final PartitionStore store = index.partition(index.partitionOf(key));
      assertEquals(0, store.reserve(16, 32));
      store.put(key, value, i + 1);
      store.grow();
    }
    final Random random = new Random(1);
    final byte[][] keys = new byte[ENTRIES][];
    for (int i = 0; i < ENTRIES; i++) {
      keys[i] = key(random.nextInt(ENTRIES)).toByteArray();
    }
    final HashReader reader = index.newReader();
    final Found found = new Found();
    final CRC32C crc = new CRC32C();
    final byte[] copy = new byte[128];
    final MemoryRegion region = memory.region(0);
    final long seed = index.location().seed();
    stage("hash of the key", i -> KeyHash.of(keys[i], 0, 16, seed));
    stage(
        "copy and checksum of a block, cached",
        i -> {
          region.getBytes(4096, copy, BlockDescriptor.COPY_OFFSET, 60);
          return BlockDescriptor.crc(crc, copy, 60, 7, i);
        });
    stage(
        "verification",
        i -> {
          region.verify();
          return i;
        });
    stage("get of one key", i -> reader.get(keys[7], 0, 16, found).ordinal());
    stage("get of random keys", i -> reader.get(keys[i], 0, 16, found).ordinal());
    stage(
        "a load of a random line",
        i -> memory.region((keys[i][15] & 3L) << 24).getLong((i * 0x9E3779B1) >>> 8 & ~7));
  }

  private static void stage(String name, IntToLongFunction body) {
    long best = Long.MAX_VALUE;
    long sum = 0;
    for (int round = 0; round < 6; round++) {
      final long begin = System.nanoTime();
      for (int i = 0; i < ENTRIES; i++) {
        sum += body.applyAsLong(i);
      }
      best = Math.min(best, System.nanoTime() - begin);
    }
    System.out.printf("%s: %.1f ns (%d)%n", name, (double) best / ENTRIES, sum & 1);
  }

  /** Files of shared memory, written before they are mapped, as a domain of shm does. */
  private static MemoryRegion shared(int length) throws IOException {
    final Path shm = Path.of("/dev/shm");
    final Path file =
        Files.isDirectory(shm)
            ? Files.createTempFile(shm, "figures", null)
            : Files.createTempFile("figures", null);
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      final ByteBuffer zeros = ByteBuffer.allocateDirect(64 << 10);
      for (int i = 0; i < length; i += zeros.capacity()) {
        channel.write(zeros.rewind());
      }
      return new MappedRegion(channel.map(MapMode.READ_WRITE, 0, length));
    } finally {
      Files.delete(file);
    }
  }

  /**
   * Measures a duty cycle with one put and one piece of growth, from 1,000 entries to {@code
   * ringfetch.entries}: the longest ones in the owner's own processor time and on the clock, with
   * segments created ahead, or by the owner.
   */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  @Tag("timing")
  void growth(boolean ahead) throws Exception {
    final int entries = Integer.getInteger("ringfetch.entries", 2 * ENTRIES);
    final ExecutorService thread = Executors.newSingleThreadExecutor();
    try {
      final StoreMemory memory =
          Memories.serving(
              Memories.context(16 << 20, (long) entries * 96 + (256L << 20))
                  .segmentSource(StoreFiguresTest::shared)
                  .growth(ahead ? thread : Runnable::run));
      final HashIndex index = new HashIndex(memory, PARTITIONS);
      final ByteString value = ByteString.copyFrom(new byte[32]);
      final long[] ownNs = new long[entries];
      final long[] clockNs = new long[entries];
      final long begin = System.nanoTime();
      for (int i = 0; i < entries; i++) {
        final ByteString key = key(i);
        final PartitionStore store = index.partition(index.partitionOf(key));
        final long ownBefore = THREADS.getCurrentThreadCpuTime();
        final long before = System.nanoTime();
        store.version(key);
        store.admit(32);
        assertEquals(0, store.reserve(16, 32));
        store.put(key, value, i + 1);
        store.grow();
        store.verify();
        if (i >= 1000) {
          clockNs[i] = System.nanoTime() - before;
          ownNs[i] = THREADS.getCurrentThreadCpuTime() - ownBefore;
        }
      }
      final long allNs = System.nanoTime() - begin;
      Arrays.sort(ownNs);
      Arrays.sort(clockNs);
      System.out.printf(
          "growth ahead=%s: %d entries in %d ms; own longest %d, 10th %d, p99.99 %d us;"
              + " clock longest %d, 10th %d, p99.99 %d us; late=%d segments=%d%n",
          ahead,
          entries,
          allNs / 1_000_000,
          ownNs[entries - 1] / 1000,
          ownNs[entries - 10] / 1000,
          ownNs[entries - entries / 10_000] / 1000,
          clockNs[entries - 1] / 1000,
          clockNs[entries - 10] / 1000,
          clockNs[entries - entries / 10_000] / 1000,
          memory.lateGrowths(),
          memory.segments());
    } finally {
      thread.shutdownNow();
    }
  }
}
