package dev.ringfetch.index.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.Found;
import dev.ringfetch.index.layout.HashReader;
import dev.ringfetch.index.layout.ReadResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;

/** An owner's thread writes while other threads read the same memory. */
class ConcurrentReadersTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 26);
  private static final int READERS = 2;

  /** Keys that are there from the first put on, and keys that come and go. */
  private static final int STABLE = 64;

  private static final int KEYS = 20_000;
  private static final long OPERATIONS = 120_000;

  private final StoreMemory memory = Memories.serving(1 << 20, 64 << 20);
  private final HashIndex index = new HashIndex(memory, 1);
  private final PartitionStore store = index.partition(0);
  private final AtomicIntegerArray reads = new AtomicIntegerArray(READERS);
  private volatile boolean done;

  private static ByteString key(int number) {
    return ByteString.copyFromUtf8("key" + number);
  }

  /** Names key and version, and fills blocks of several classes. */
  private static ByteString value(int key, long version) {
    return ByteString.copyFromUtf8(key + ":" + version + ":" + "x".repeat((int) (version % 90)));
  }

  private void put(int key, long version) {
    final ByteString name = key(key);
    final ByteString value = value(key, version);
    assertEquals(0, store.reserve(name.size(), value.size()));
    store.put(name, value, version);
  }

  private boolean allHaveReadEnough() {
    for (int i = 0; i < READERS; i++) {
      if (reads.get(i) <= 1000) {
        return false;
      }
    }
    return true;
  }

  /** Goes on until the readers have read enough beside it, or one of them has failed. */
  private void own() {
    final Random random = new Random(SEED);
    for (long version = STABLE + 1;
        !done && (version < OPERATIONS || !allHaveReadEnough());
        version++) {
      final int dice = random.nextInt(8);
      if (dice < 3) {
        put(random.nextInt(STABLE), version);
      } else if (dice < 7) {
        final long grown = Math.min(version, OPERATIONS);
        put(STABLE + random.nextInt(1 + (int) (KEYS * grown / OPERATIONS)), version);
      } else {
        store.delete(key(STABLE + random.nextInt(KEYS)));
      }
      if (dice == 0) {
        store.grow();
      }
    }
  }

  private void read(int number) {
    try {
      readUntilDone(number);
    } finally {
      done = true;
    }
  }

  private void readUntilDone(int number) {
    final Random random = new Random(SEED + number);
    final HashReader reader = index.newReader();
    final Found found = new Found();
    final long[] versions = new long[KEYS + STABLE];
    while (!done) {
      final int key = random.nextBoolean() ? random.nextInt(STABLE) : STABLE + random.nextInt(KEYS);
      final ReadResult result = reader.get(key(key), found);
      assertNotEquals(ReadResult.CLOSED, result);
      assertNotEquals(ReadResult.LOST, result);
      if (result == ReadResult.FOUND) {
        assertEquals(value(key, found.version()), found.value());
        assertTrue(
            found.version() >= versions[key],
            () -> "key=" + key + " version=" + found.version() + " before=" + versions[key]);
        versions[key] = found.version();
      } else {
        assertTrue(result == ReadResult.UNDECIDED || key >= STABLE, () -> "absent: key=" + key);
      }
      reads.incrementAndGet(number);
    }
  }

  @Test
  void readersSeeValuesThatOnlyGetNewer() throws Exception {
    System.out.println("ringfetch.seed=" + SEED);
    for (int key = 0; key < STABLE; key++) {
      put(key, key + 1);
    }
    final ExecutorService threads = Executors.newFixedThreadPool(READERS);
    try {
      final List<Future<?>> readers = new ArrayList<>();
      for (int i = 0; i < READERS; i++) {
        final int number = i;
        readers.add(threads.submit(() -> read(number)));
      }
      own();
      done = true;
      for (Future<?> reader : readers) {
        reader.get(60, TimeUnit.SECONDS);
      }
      System.out.println("reads=" + reads);
    } finally {
      done = true;
      threads.shutdownNow();
    }
  }
}
