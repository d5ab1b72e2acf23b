package dev.ringfetch.examples.cluster;

import dev.ringfetch.index.client.Access;
import dev.ringfetch.index.client.Codec;
import dev.ringfetch.index.client.CompareAndSetResult;
import dev.ringfetch.index.client.HashIndex;
import dev.ringfetch.index.client.IndexClient;
import dev.ringfetch.index.client.IndexEntry;
import dev.ringfetch.index.client.IndexException;
import dev.ringfetch.index.client.Operation;
import io.grpc.Status;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * The writers and readers of the demo, and their records. Writers increment counters, several the
 * same ones, in one step and by comparing and setting; and write numbers that grow, each under keys
 * of its own, in all the ways that write one key. Readers read all of them, by calls or in the
 * leader's memory. Each answer is compared with what was known before its operation began.
 *
 * <p>Threads of its own, from {@link #start} to {@link #stop}. Counts may be read by any thread.
 */
final class Workload implements AutoCloseable {
  /** The index of this program's own load. */
  static final String INDEX = "demo";

  /**
   * How long an operation may take: longer than any fail-over, so that each outcome gets known, and
   * one that takes this long is a failure.
   */
  static final Duration DEADLINE = Duration.ofSeconds(30);

  private static final int COUNTERS = 8;
  private static final String COUNTER = "counter-";
  private static final int KEYS_PER_WRITER = 16;
  private static final int MOST_COMPLAINTS = 5;
  private static final int END_SECONDS = 2;

  /** Between two direct reads of a thread, which take no time and would take its processor. */
  private static final long DIRECT_PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(20);

  private static final Duration LONG = Duration.ofDays(1);

  private final String index;
  private final IndexClient writing;
  private final IndexClient reading;
  private final HashIndex<String, Long> written;
  private final HashIndex<String, Long> read;
  private final List<KeyRecord> counters = new ArrayList<>();
  private final List<List<KeyRecord>> numbers = new ArrayList<>(); // by writer
  private final List<KeyRecord> all = new ArrayList<>();
  private final List<Thread> threads = new ArrayList<>();
  private final Measured writes = new Measured();
  private final Measured reads = new Measured();
  private final LongAdder directReads = new LongAdder();
  private final AtomicLong lostComparisons = new AtomicLong();
  private final AtomicLong wentBack = new AtomicLong();
  private final AtomicLong failures = new AtomicLong();
  private final AtomicLong complaints = new AtomicLong();
  private volatile boolean stopped;
  private volatile boolean closed;

  /**
   * Creates it; nothing runs yet.
   *
   * @param index that is written
   * @param target addresses of nodes, with commas between
   * @param directReaders threads that read in memory, where that is granted
   */
  Workload(String index, String target, int writers, int readers, int directReaders, long seed) {
    this.index = index;
    writing = IndexClient.builder().target(target).deadline(DEADLINE).build();
    reading = IndexClient.builder().target(target).deadline(DEADLINE).metrics(this::count).build();
    written = writing.hash(index, Codec.string(), Codec.int64());
    read = reading.hash(index, Codec.string(), Codec.int64());
    for (int i = 0; i < COUNTERS; i++) {
      counters.add(new KeyRecord(COUNTER + i));
    }
    all.addAll(counters);
    for (int i = 0; i < writers; i++) {
      final List<KeyRecord> own = new ArrayList<>();
      for (int j = 0; j < KEYS_PER_WRITER; j++) {
        own.add(new KeyRecord("{number-" + i + "-" + j + "}"));
      }
      numbers.add(own);
      all.addAll(own);
      final Random random = new Random(seed + i);
      threads.add(new Thread(() -> write(own, random), "demo-writer-" + i));
    }
    for (int i = 0; i < readers; i++) {
      final Random random = new Random(seed - 1 - i);
      threads.add(new Thread(() -> read(read, 0, random), "demo-reader-" + i));
    }
    final HashIndex<String, Long> direct = read.access(Access.DIRECT);
    for (int i = 0; i < directReaders; i++) {
      final Random random = new Random(~seed - i);
      threads.add(
          new Thread(() -> read(direct, DIRECT_PAUSE_NS, random), "demo-direct-reader-" + i));
    }
    threads.forEach(thread -> thread.setDaemon(true));
  }

  /** Starts the threads. */
  void start() {
    threads.forEach(Thread::start);
  }

  /** Ends the threads, after the operations that are under way. */
  void stop() throws InterruptedException {
    stopped = true;
    for (final Thread thread : threads) {
      thread.join(DEADLINE.plusSeconds(END_SECONDS).toMillis());
      if (thread.isAlive()) {
        complain(thread.getName() + " hangs in an operation");
        failures.incrementAndGet();
      }
    }
  }

  private void write(List<KeyRecord> own, Random random) {
    long number = 0;
    while (!stopped) {
      switch (random.nextInt(4)) {
        case 0 -> increment(counters.get(random.nextInt(COUNTERS)));
        case 1 -> compareAndIncrement(counters.get(random.nextInt(COUNTERS)));
        default -> {
          number++;
          put(own.get(random.nextInt(KEYS_PER_WRITER)), number, random.nextInt(8));
        }
      }
    }
  }

  private void put(KeyRecord record, long number, int way) {
    final String key = record.key();
    final long beginNs = System.nanoTime();
    try {
      switch (way) {
        case 0 -> record.acknowledged(written.put(key, number, LONG), number);
        case 1 -> {
          written.putAll(Map.of(key, number));
          record.acknowledged(written.touch(key, LONG).orElse(0), number);
        }
        case 2 -> {
          final var unused = written.getAndSet(key, number);
          record.counted();
        }
        case 3 -> record.acknowledged(transact(key, number), number);
        default -> record.acknowledged(written.put(key, number), number);
      }
      writes.ended(beginNs);
    } catch (IndexException e) {
      failed(record, e);
    }
  }

  /** Writes a number in a transaction, with a key beside it that comes and goes. */
  private long transact(String key, long number) {
    final String beside = key + ".beside"; // the key is a tag, so both are of one partition
    return written
        .transaction()
        .when(conditions -> conditions.exists(beside))
        .then(then -> then.put(key, number).remove(beside))
        .otherwise(otherwise -> otherwise.put(key, number).put(beside, number))
        .commit()
        .version()
        .orElse(0);
  }

  private void increment(KeyRecord record) {
    final KeyRecord.Seen floor = record.floor();
    final long beginNs = System.nanoTime();
    try {
      final long counter = written.increment(record.key(), 1);
      writes.ended(beginNs);
      record.counted();
      if (counter <= floor.value()) {
        wentBack.incrementAndGet();
        complain("an increment went back: key=" + record.key() + " " + floor + " to " + counter);
      }
    } catch (IndexException e) {
      failed(record, e);
    }
  }

  private void compareAndIncrement(KeyRecord record) {
    final KeyRecord.Seen floor = record.floor();
    long beginNs = System.nanoTime();
    try {
      final Optional<IndexEntry<String, Long>> entry = written.getEntry(record.key());
      reads.ended(beginNs);
      check(record, floor, entry);
      final long next = entry.map(IndexEntry::value).orElse(0L) + 1;
      beginNs = System.nanoTime();
      final CompareAndSetResult<String, Long> result =
          written.compareAndSet(record.key(), entry.map(IndexEntry::version).orElse(0L), next);
      writes.ended(beginNs);
      if (result.applied()) {
        record.acknowledged(result.entry().orElseThrow().version(), next);
      } else {
        lostComparisons.incrementAndGet();
        check(record, floor, result.entry());
      }
    } catch (IndexException e) {
      failed(record, e);
    }
  }

  private void count(
      Operation operation, String index, Access route, Status.Code code, long durationNs) {
    if (route == Access.DIRECT) {
      directReads.increment();
    }
  }

  private void read(HashIndex<String, Long> view, long pauseNs, Random random) {
    while (!stopped) {
      final KeyRecord record = all.get(random.nextInt(all.size()));
      final KeyRecord.Seen floor = record.floor();
      final long beginNs = System.nanoTime();
      try {
        final Optional<IndexEntry<String, Long>> entry = view.getEntry(record.key());
        reads.ended(beginNs);
        check(record, floor, entry);
      } catch (IndexException e) {
        failed(record, e);
      }
      if (pauseNs > 0) {
        LockSupport.parkNanos(this, pauseNs);
      }
    }
  }

  private void check(
      KeyRecord record, KeyRecord.Seen floor, Optional<IndexEntry<String, Long>> entry) {
    if (!record.found(floor, entry)) {
      wentBack.incrementAndGet();
      complain("a read went back: key=" + record.key() + " floor=" + floor + " found=" + entry);
    }
  }

  private void failed(KeyRecord record, IndexException failure) {
    if (closed) {
      return; // by the end of the client
    }
    failures.incrementAndGet();
    if (failure.isOutcomeUnknown()) {
      record.unknown();
    }
    complain(failure.getMessage());
  }

  private void complain(String text) {
    if (complaints.getAndIncrement() < MOST_COMPLAINTS) {
      System.err.println("\n" + text);
    }
  }

  /**
   * Reads all keys again, after {@link #stop}, with a client that has seen nothing yet.
   *
   * @return keys of which an acknowledged write is lost, and keys whose number of increments is
   *     another one than was acknowledged
   */
  Verdict verify(IndexClient fresh) {
    final HashIndex<String, Long> found = fresh.hash(index, Codec.string(), Codec.int64());
    long lost = 0;
    long miscounted = 0;
    for (final KeyRecord record : all) {
      final KeyRecord.Seen floor = record.floor();
      final Optional<IndexEntry<String, Long>> entry = found.getEntry(record.key());
      if (!record.found(floor, entry)) {
        lost++;
        complain("lost: key=" + record.key() + " known=" + floor + " found=" + entry);
      }
      final long value = entry.map(IndexEntry::value).orElse(0L);
      if (counters.contains(record)
          && (value < record.acknowledgedWrites()
              || value > record.acknowledgedWrites() + record.unknownWrites())) {
        miscounted++;
        complain(
            "miscounted: key="
                + record.key()
                + " value="
                + value
                + " acknowledged="
                + record.acknowledgedWrites()
                + " unknown="
                + record.unknownWrites());
      }
    }
    return new Verdict(lost, miscounted);
  }

  /** What a last look has found. */
  record Verdict(long lost, long miscounted) {}

  /** Whether nothing was lost, found old, counted wrong, or has failed. */
  boolean isRight(Verdict verdict) {
    return verdict.lost() + verdict.miscounted() + wentBack() + failures() == 0;
  }

  /** The counts of the load and of its verdict, for a line that scripts read. */
  String counts(Verdict verdict) {
    return String.format(
        Locale.ROOT,
        "writes=%d increments=%d reads=%d direct_reads=%d lost=%d went_back=%d miscounted=%d"
            + " failed=%d unknown=%d",
        acknowledged(),
        increments(),
        reads.total().getTotalCount(),
        directReads(),
        verdict.lost(),
        wentBack(),
        verdict.miscounted(),
        failures(),
        unknown());
  }

  /** Latencies of writes. */
  Measured writes() {
    return writes;
  }

  /** Latencies of reads. */
  Measured reads() {
    return reads;
  }

  /** Reads in a leader's memory. */
  long directReads() {
    return directReads.sum();
  }

  /** Increments that were acknowledged. */
  long increments() {
    return counters.stream().mapToLong(KeyRecord::acknowledgedWrites).sum();
  }

  /** Writes that were acknowledged. */
  long acknowledged() {
    return all.stream().mapToLong(KeyRecord::acknowledgedWrites).sum();
  }

  /** Writes whose outcome is unknown. */
  long unknown() {
    return all.stream().mapToLong(KeyRecord::unknownWrites).sum();
  }

  /** Comparisons that another writer was faster than. */
  long lostComparisons() {
    return lostComparisons.get();
  }

  /** Reads that found something older than was known before they began. */
  long wentBack() {
    return wentBack.get();
  }

  /** Operations that failed. */
  long failures() {
    return failures.get();
  }

  @Override
  public void close() {
    stopped = true;
    closed = true;
    threads.forEach(Thread::interrupt); // of operations that hang
    for (final Thread thread : threads) {
      try {
        thread.join(TimeUnit.SECONDS.toMillis(END_SECONDS));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    writing.close();
    reading.close();
  }

  /** Whether a key is that of a counter, whose value grows by one with each write. */
  static boolean isCounter(String key) {
    return key.startsWith(COUNTER);
  }

  /** A client for one write at a time. */
  static IndexClient client(String target) {
    return IndexClient.builder().target(target).deadline(DEADLINE).build();
  }

  /** Nanoseconds in milliseconds. */
  static double millis(long ns) {
    return ns / (double) TimeUnit.MILLISECONDS.toNanos(1);
  }
}
