package dev.ringfetch.index.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.Found;
import dev.ringfetch.index.layout.OrderedReader;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.layout.ScanCursor;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * An owner's thread writes, splits and removes nodes of three levels while other threads read and
 * scan the same memory, both ways.
 */
class OrderedReadersTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 26);
  private static final int READERS = 2;
  private static final int KEYS = 16_000;
  private static final int OPERATIONS = 12_000;

  /** One key of so many stays from the first put on. */
  private static final int STABLE = 61;

  private final StoreMemory memory = Memories.serving(1 << 20, 64 << 20);
  private final OrderedIndex index = new OrderedIndex(memory);
  private final OrderedStore store = index.partition(0);
  private final ScanChecker checker = new ScanChecker();
  private final AtomicLong clock = new AtomicLong();
  private final AtomicInteger scans = new AtomicInteger();
  private final AtomicLong results = new AtomicLong();
  private final boolean[] present = new boolean[KEYS];
  private volatile boolean done;
  private boolean longKeys;

  private ByteString key(int number) {
    return longKeys
        ? ByteString.copyFromUtf8(String.format("a head of keys %06d", number))
        : ByteString.copyFromUtf8(String.format("%06d", number));
  }

  private static ByteString value(long version) {
    return ByteString.copyFromUtf8(version + ":" + "x".repeat((int) (version % 60)));
  }

  private void put(int number, long version) {
    final ByteString key = key(number);
    final ByteString value = value(version);
    assertEquals(0, store.reserve(key.size(), value.size()));
    final long begin = clock.incrementAndGet();
    store.put(key, value, version);
    checker.became(key, version, begin, clock.incrementAndGet());
    present[number] = true;
  }

  private void delete(int number) {
    final ByteString key = key(number);
    final long begin = clock.incrementAndGet();
    assertEquals(present[number], store.delete(key));
    if (present[number]) {
      checker.became(key, 0, begin, clock.incrementAndGet());
      present[number] = false;
    }
  }

  /**
   * Fills and empties runs of keys, so that leaves and inner nodes come and go; goes on until the
   * readers have scanned enough beside it, or one of them has failed.
   */
  private void own() {
    final Random random = new Random(SEED);
    long version = KEYS;
    while (!done && (version < KEYS + OPERATIONS || scans.get() <= 20 || results.get() <= 1000)) {
      final int first = random.nextInt(KEYS);
      final int run = 1 << random.nextInt(12);
      final boolean deletes = random.nextBoolean();
      final boolean descends = random.nextBoolean();
      for (int i = 0; i < run; i++) {
        final int number = (first + (descends ? run - i : i)) % KEYS;
        version++;
        if (!deletes || number % STABLE == 0) {
          put(number, version);
        } else {
          delete(number);
        }
      }
    }
  }

  private List<ScanChecker.Scan> read(long seed) {
    try {
      return readUntilDone(seed);
    } finally {
      done = true;
    }
  }

  private List<ScanChecker.Scan> readUntilDone(long seed) {
    final Random random = new Random(seed);
    final OrderedReader reader =
        new OrderedReader(memory.newReads(), index.location(), seed % 2 == 0 ? 0 : 64);
    final Found found = new Found();
    final long[] versions = new long[KEYS];
    final List<ScanChecker.Scan> scanned = new ArrayList<>();
    while (!done) {
      for (int i = 0; i < 200; i++) {
        get(reader, random.nextInt(KEYS), found, versions);
      }
      scanned.add(scan(reader, random));
      scans.incrementAndGet();
      results.addAndGet(scanned.get(scanned.size() - 1).results().size());
    }
    return scanned;
  }

  private void get(OrderedReader reader, int number, Found found, long[] versions) {
    final ReadResult result = reader.get(key(number), found);
    assertNotEquals(ReadResult.CLOSED, result);
    assertNotEquals(ReadResult.LOST, result);
    if (result == ReadResult.FOUND) {
      assertEquals(value(found.version()), found.value());
      assertTrue(found.version() >= versions[number], "number=" + number);
      versions[number] = found.version();
    } else {
      assertTrue(result == ReadResult.UNDECIDED || number % STABLE != 0, "absent: " + number);
    }
  }

  private ScanChecker.Scan scan(OrderedReader reader, Random random) {
    final boolean reverse = random.nextBoolean();
    final int length = random.nextInt(10) == 0 ? KEYS : 1 << random.nextInt(12);
    final int number = random.nextInt(KEYS);
    final ByteString start = length == KEYS ? ByteString.EMPTY : key(number);
    final ByteString end = number + length >= KEYS ? ByteString.EMPTY : key(number + length);
    final ScanCursor cursor =
        reverse ? ScanCursor.reverse(start, end) : ScanCursor.forward(start, end);
    final List<ScanChecker.Result> results = new ArrayList<>();
    final long from = clock.get();
    ReadResult result;
    do {
      result =
          reader.scan(
              cursor,
              (array, keyOffset, keyLength, valueLength, version, deadline) -> {
                assertEquals(
                    value(version), ByteString.copyFrom(array, keyOffset + keyLength, valueLength));
                results.add(
                    new ScanChecker.Result(
                        ByteString.copyFrom(array, keyOffset, keyLength), version));
                return true;
              });
    } while (result == ReadResult.UNDECIDED);
    assertEquals(ReadResult.ABSENT, result);
    return new ScanChecker.Scan(reverse, start, end, results, from, clock.get());
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void scansKeepTheirContract(boolean withLongKeys) throws Exception {
    System.out.println("ringfetch.seed=" + SEED);
    longKeys = withLongKeys;
    for (int number = 0; number < KEYS; number += STABLE) {
      put(number, number + 1);
    }
    final ExecutorService threads = Executors.newFixedThreadPool(READERS);
    try {
      final List<Future<List<ScanChecker.Scan>>> readers = new ArrayList<>();
      for (int i = 0; i < READERS; i++) {
        final long seed = SEED + i;
        readers.add(threads.submit(() -> read(seed)));
      }
      own();
      done = true;
      for (Future<List<ScanChecker.Scan>> reader : readers) {
        reader.get(60, TimeUnit.SECONDS).forEach(checker::check);
      }
      System.out.println("scans=" + scans + " results=" + results);
      assertEquals(3, store.height());
    } finally {
      done = true;
      threads.shutdownNow();
    }
  }
}
