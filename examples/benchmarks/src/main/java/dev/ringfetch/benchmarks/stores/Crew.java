package dev.ringfetch.benchmarks.stores;

import dev.ringfetch.examples.process.Answer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.HdrHistogram.Histogram;

/** The threads of a client's process that work on one store, and the figures of a round. */
final class Crew implements AutoCloseable {
  private static final double NS_PER_US = 1_000;
  private static final int SEQUENCE_LENGTH = 1 << 18;

  /** Between two workers in the sequence: a prime, so that they never draw the same for long. */
  private static final int DISTANCE = 30_011;

  private static final long INSERTS_PER_WORKER = 1L << 32;

  private final Store store;
  private final int entries;
  private final long seed;
  private final long firstInsert;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final Map<Integer, int[]> sequences = new HashMap<>(); // by the entries to draw from
  private final Map<Integer, List<Worker>> workers = new HashMap<>();
  private AtomicBoolean stop;
  private List<Worker> busy;
  private List<Future<?>> running = List.of();

  /**
   * Creates it.
   *
   * @param entries that the store has.
   * @param seed of what is drawn.
   * @param firstInsert number of an entry behind which no other process inserts any.
   */
  Crew(Store store, int entries, long seed, long firstInsert) {
    this.store = store;
    this.entries = entries;
    this.seed = seed;
    this.firstInsert = firstInsert;
  }

  /** Works for some time. */
  Answer run(Mix mix, int count, boolean timed, long millis) throws InterruptedException {
    begin(entries, count);
    final long lengthNs = TimeUnit.MILLISECONDS.toNanos(millis);
    busy.forEach(worker -> submit(() -> worker.run(mix, timed, lengthNs, stop)));
    return await();
  }

  /**
   * Begins to work, until {@link #end}, on the first entries.
   *
   * @param perSecond operations in a second by one thread; 0 for one after the other.
   */
  Answer begin(Mix mix, int items, int perSecond) {
    begin(items, 1);
    final Worker worker = busy.get(0);
    submit(
        perSecond == 0
            ? () -> worker.run(mix, true, Long.MAX_VALUE, stop)
            : () -> worker.runAt(mix, perSecond, stop));
    return new Answer();
  }

  /** Ends what was begun. */
  Answer end() throws InterruptedException {
    stop.set(true);
    return await();
  }

  private void begin(int items, int count) {
    if (!running.isEmpty()) {
      throw new IllegalStateException("still at work");
    }
    final List<Worker> all = workers.computeIfAbsent(items, absent -> new ArrayList<>());
    final int[] sequence =
        sequences.computeIfAbsent(
            items, absent -> ScrambledZipf.sequence(items, SEQUENCE_LENGTH, seed));
    while (all.size() < count) {
      final int number = all.size();
      all.add(
          new Worker(
              store.open(),
              sequence,
              items,
              DISTANCE * number,
              firstInsert + number * INSERTS_PER_WORKER));
    }
    busy = all.subList(0, count);
    running = new ArrayList<>();
    stop = new AtomicBoolean();
  }

  private void submit(Runnable work) {
    running.add(threads.submit(work));
  }

  private Answer await() throws InterruptedException {
    try {
      for (final Future<?> one : running) {
        one.get();
      }
    } catch (ExecutionException e) {
      stop.set(true);
      throw new IllegalStateException(String.valueOf(e.getCause()), e);
    } finally {
      running = List.of();
    }
    if (!store.obstacle().isEmpty()) {
      throw new IllegalStateException(store.obstacle());
    }
    return figures();
  }

  private Answer figures() {
    final Histogram all = new Histogram(busy.get(0).latencies());
    busy.forEach(worker -> all.add(worker.latencies()));
    return new Answer()
        .with("calls", busy.stream().mapToLong(Worker::calls).sum())
        .with("wrong", busy.stream().mapToLong(Worker::wrong).sum())
        .with("p50", all.getValueAtPercentile(50) / NS_PER_US)
        .with("p99", all.getValueAtPercentile(99) / NS_PER_US)
        .with("p999", all.getValueAtPercentile(99.9) / NS_PER_US)
        .with("max", all.getMaxValue() / NS_PER_US)
        .with("perSecond", busy.stream().mapToDouble(Worker::perSecond).sum());
  }

  @Override
  public void close() {
    threads.shutdown();
    workers.values().forEach(some -> some.forEach(Worker::close));
  }
}
