package dev.ringfetch.benchmarks.stores;

import com.google.protobuf.ByteString;
import com.sun.management.ThreadMXBean;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.fabric.Domain;
import dev.ringfetch.fabric.DomainContext;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricProviders;
import dev.ringfetch.fabric.GateDescriptor;
import dev.ringfetch.index.partition.CommitLog;
import dev.ringfetch.index.partition.Handover;
import dev.ringfetch.index.partition.Partition;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.service.IndexMemoryContext;
import dev.ringfetch.index.store.HashIndex;
import dev.ringfetch.index.store.StoreMemory;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.management.ManagementFactory;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * The steps of an owner while its index grows: writers of partitions and a store in shared memory,
 * as a server has them, driven by one thread that puts entry after entry. A step is the submission
 * of one put: the cycles that it drives, at least one, with the growth that is due in them. So none
 * of the cycles is longer than the longest step.
 *
 * <p>A step can also be long because the thread has lost the processor. Of long steps the processor
 * time is looked at, too: that of a step and up to {@value #SPAN} others. And the same thread then
 * overwrites all entries, which makes nothing grow: what its steps have, too, is not of growth.
 */
public final class GrowthSteps {
  /** Begins the names of figures of puts of new entries. */
  public static final String GROWTH = "growth-";

  /** Begins the names of figures of puts that overwrite the same entries. */
  public static final String UPDATES = "updates-";

  private static final int SPAN = 64;
  private static final int SEGMENT_LENGTH = 16 << 20; // as a server has it
  private static final long BYTES_PER_ENTRY = 160;
  private static final long MIN_BYTES = 256L << 20;
  private static final int QUEUE_CAPACITY = 4096;
  private static final int EPOCH = 1;
  private static final int DIGITS = 3;
  private static final double NS_PER_US = 1_000;
  private static final long LONG_NS = TimeUnit.MILLISECONDS.toNanos(1);

  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private final byte[] keyBytes = new byte[Entries.KEY_LENGTH];
  private final byte[] valueBytes = new byte[Entries.VALUE_LENGTH];
  private final HashIndex index;
  private final Partition[] partitions;
  private long done;
  private final Write write = new Write(answered -> done++);

  /** The log of a partition that keeps no record: each is committed within append. */
  private static final class Versions implements CommitLog {
    private long last;

    @Override
    public long append(Write write) {
      return ++last;
    }

    @Override
    public long committed() {
      return last;
    }

    @Override
    public boolean isImmediate() {
      return true;
    }

    @Override
    public void onCommit(Runnable listener) {
      // All commits happen within append.
    }
  }

  private GrowthSteps(StoreMemory memory) {
    index = new HashIndex(memory, IndexMemoryContext.PARTITIONS_DEFAULT);
    partitions = new Partition[index.partitions()];
    for (int i = 0; i < partitions.length; i++) {
      partitions[i] =
          new Partition(
              index.partition(i),
              new Versions(),
              QUEUE_CAPACITY,
              error -> {
                throw new IllegalStateException("a writer has failed", error);
              },
              Handover.never());
    }
  }

  /**
   * Grows an index, then overwrites its entries. The names of the figures begin with {@link
   * #GROWTH} and {@link #UPDATES}.
   *
   * @param first entries before steps are timed.
   * @param entries in the end.
   */
  static Answer run(FabricContext context, long first, long entries) throws IOException {
    final long budget = Math.max(MIN_BYTES, entries * BYTES_PER_ENTRY);
    final ExecutorService growth = Executors.newSingleThreadExecutor();
    try (Fabric fabric = FabricProviders.open("shm", context.copy());
        Domain domain = fabric.openDomain(new DomainContext().memoryLimit(budget))) {
      final StoreMemory memory =
          new StoreMemory(
              new StoreMemory.Context()
                  .segmentSource(length -> domain.grow(length).region())
                  .segmentLength(SEGMENT_LENGTH)
                  .budget(budget)
                  .growth(growth)
                  .gate(domain.gate().region(), GateDescriptor.WORD_OFFSET)
                  .incarnation(EPOCH)
                  .seed(EPOCH));
      try {
        return new GrowthSteps(memory).grow(first, entries);
      } finally {
        end(growth); // before the memory that it grows
      }
    }
  }

  private static void end(ExecutorService growth) throws IOException {
    growth.shutdown();
    try {
      if (!growth.awaitTermination(1, TimeUnit.MINUTES)) {
        throw new IOException("a segment is not made within a minute");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("while a segment is made");
    }
  }

  private Answer grow(long first, long entries) {
    for (long number = 0; number < first; number++) {
      final long unused = put(number);
    }
    final Answer answer = new Answer();
    time(first, entries, GROWTH, answer);
    time(first, entries, UPDATES, answer);
    if (done != 2 * entries - first || index.count() != entries) {
      throw new IllegalStateException(
          "entries=" + entries + " answered=" + done + " counted=" + index.count());
    }
    return answer;
  }

  /** Puts entries, and adds the figures of the steps. */
  private void time(long first, long end, String prefix, Answer answer) {
    final Histogram steps = new Histogram(TimeUnit.SECONDS.toNanos(60), DIGITS);
    long longSteps = 0;
    long longestCpuNs = 0;
    final long startNs = System.nanoTime();
    long cpuNs = threads.getCurrentThreadCpuTime();
    boolean hadLong = false;
    for (long number = first; number < end; number++) {
      final long tookNs = put(number);
      steps.recordValue(tookNs);
      if (tookNs >= LONG_NS) {
        longSteps++;
        hadLong = true;
      }
      if (hadLong || number % SPAN == 0) {
        final long nowCpuNs = threads.getCurrentThreadCpuTime();
        longestCpuNs = hadLong ? Math.max(longestCpuNs, nowCpuNs - cpuNs) : longestCpuNs;
        cpuNs = nowCpuNs;
        hadLong = false;
      }
    }
    final long elapsedNs = System.nanoTime() - startNs;
    answer
        .with(prefix + "calls", end - first)
        .with(prefix + "wrong", 0)
        .with(prefix + "p50", steps.getValueAtPercentile(50) / NS_PER_US)
        .with(prefix + "p99", steps.getValueAtPercentile(99) / NS_PER_US)
        .with(prefix + "p9999", steps.getValueAtPercentile(99.99) / NS_PER_US)
        .with(prefix + "max", steps.getMaxValue() / NS_PER_US)
        .with(prefix + "maxCpu", longestCpuNs / NS_PER_US)
        .with(prefix + "long", longSteps)
        .with(prefix + "perSecond", (end - first) * 1e9 / elapsedNs);
  }

  /** Puts an entry; returns how long the submission took, in nanoseconds. */
  private long put(long number) {
    final ByteString key = Entries.key(number, keyBytes);
    write.put(key, Entries.value(number, 0, valueBytes));
    final Partition partition = partitions[index.partitionOf(key)];
    final long startNs = System.nanoTime();
    final int refused = partition.submit(write);
    final long tookNs = System.nanoTime() - startNs;
    if (refused != 0 || write.outcome() != Write.DONE) {
      throw new IllegalStateException("refused=" + refused + " outcome=" + write.outcome());
    }
    return tookNs;
  }
}
