package dev.ringfetch.index.partition;

import com.google.protobuf.ByteString;
import com.sun.management.ThreadMXBean;
import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.index.store.EntryStore;
import dev.ringfetch.index.store.HashIndex;
import dev.ringfetch.index.store.StoreMemory;
import dev.ringfetch.index.v1.Entry;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.agrona.collections.Object2LongHashMap;

/**
 * Measures puts per second through one partition, and what each allocates, with an {@link
 * ImmediateLog}; with a store that keeps versions alone, and with index memory. A main program: run
 * it on idle cores. Argument: seconds of each measurement, 3 unless given.
 */
public final class WriteSpeed {
  private static final int KEYS = 1_000;
  private static final int CAPACITY = 1_024;
  private static final int BATCH = 64;
  private static final int SEGMENT_LENGTH = 1 << 20;
  private static final ByteString VALUE = ByteString.copyFrom(new byte[32]);

  private final EntryStore store;
  private final Partition partition;
  private final ByteString[] keys = new ByteString[KEYS];
  private final long durationNs;
  private final AtomicLong puts = new AtomicLong();
  private final AtomicLong allocated = new AtomicLong();

  private WriteSpeed(EntryStore store, long durationNs) {
    this.store = store;
    this.durationNs = durationNs;
    partition =
        new Partition(
            store,
            new ImmediateLog(0),
            CAPACITY,
            t -> {
              throw new IllegalStateException(t);
            },
            new Handover(ForkJoinPool.commonPool(), Handover.CYCLES_DEFAULT));
    for (int i = 0; i < KEYS; i++) {
      keys[i] = ByteString.copyFromUtf8(String.format("key-%012d", i));
    }
  }

  /** Measures and prints. */
  public static void main(String[] args) throws Exception {
    final long durationNs =
        TimeUnit.SECONDS.toNanos(args.length == 0 ? 3 : Integer.parseInt(args[0]));
    for (int repetition = 0; repetition < 2; repetition++) { // the first warms up
      for (final int threads : new int[] {1, 2, 4}) {
        new WriteSpeed(new VersionStore(), durationNs).measure(threads, false);
        new WriteSpeed(indexMemory(), durationNs).measure(threads, false);
      }
      new WriteSpeed(new VersionStore(), durationNs).measure(1, true);
      new WriteSpeed(indexMemory(), durationNs).measure(1, true);
    }
  }

  private static EntryStore indexMemory() throws IOException {
    final StoreMemory memory =
        new StoreMemory(
            new StoreMemory.Context()
                .segmentSource(DirectRegion::new)
                .segmentLength(SEGMENT_LENGTH)
                .budget(16L * SEGMENT_LENGTH)
                .gate(new DirectRegion(64), 0)
                .incarnation(1)
                .seed(1));
    return new HashIndex(memory, 1).partition(0);
  }

  private void measure(int threads, boolean batches) throws Exception {
    final ExecutorService executor = Executors.newFixedThreadPool(threads);
    final Future<?>[] running = new Future<?>[threads];
    final long beginNs = System.nanoTime();
    for (int i = 0; i < threads; i++) {
      final int first = i * KEYS / threads;
      running[i] = executor.submit(() -> run(first, batches, beginNs + durationNs));
    }
    for (final Future<?> one : running) {
      one.get();
    }
    final double seconds = (System.nanoTime() - beginNs) / 1e9;
    executor.shutdown();
    System.out.printf(
        "store=%s threads=%d batch=%d puts/s=%,.0f bytes/put=%.2f%n",
        store.getClass().getSimpleName(),
        threads,
        batches ? BATCH : 1,
        puts.get() / seconds,
        (double) allocated.get() / puts.get());
  }

  private void run(int first, boolean batches, long endNs) {
    final ThreadMXBean bean = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    final long before = bean.getCurrentThreadAllocatedBytes();
    final long count = batches ? putBatches(endNs) : put(first, endNs);
    puts.addAndGet(count);
    allocated.addAndGet(bean.getCurrentThreadAllocatedBytes() - before);
  }

  private long put(int first, long endNs) {
    final Answer answer = new Answer();
    final Write write = new Write(put -> answer.come = true);
    long count = 0;
    while (System.nanoTime() < endNs) {
      answer.come = false;
      write.put(keys[(int) ((first + count) % KEYS)], VALUE);
      while (partition.submit(write) != 0) {
        Thread.onSpinWait();
      }
      answer.await();
      count++;
    }
    return count;
  }

  private long putBatches(long endNs) {
    final Answer answer = new Answer();
    final PutBatch batch = new PutBatch(put -> answer.come = true);
    long count = 0;
    while (System.nanoTime() < endNs) {
      answer.come = false;
      batch.clear();
      for (int i = 0; i < BATCH; i++) {
        batch.add(partition, keys[(int) ((count + i) % KEYS)], VALUE);
      }
      batch.submit();
      answer.await();
      count += BATCH;
    }
    return count;
  }

  /** Whether the answer of a thread's put has come. */
  private static final class Answer {
    private volatile boolean come;

    @SuppressWarnings("ThreadPriorityCheck") // fewer cores than threads: the owner's turn
    void await() {
      for (int i = 1; !come; i++) {
        if (i % 64 == 0) {
          Thread.yield();
        } else {
          Thread.onSpinWait();
        }
      }
    }
  }

  /** A store of versions alone, which allocates nothing. */
  private static final class VersionStore implements EntryStore {
    private final Object2LongHashMap<ByteString> versions = new Object2LongHashMap<>(0);

    @Override
    public long version(ByteString key) {
      return versions.getValue(key);
    }

    @Override
    public Entry entry(ByteString key) {
      throw new UnsupportedOperationException();
    }

    @Override
    public int reserve(int keyLength, int valueLength) {
      return 0;
    }

    @Override
    public void release(int keyLength, int valueLength) {}

    @Override
    public void put(ByteString key, ByteString value, long version) {
      versions.put(key, version);
    }

    @Override
    public boolean delete(ByteString key) {
      return versions.removeKey(key) != 0;
    }

    @Override
    public boolean grow() {
      return false;
    }

    @Override
    public long count() {
      return versions.size();
    }
  }
}
