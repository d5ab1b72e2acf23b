package dev.ringfetch.index.replication;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.index.layout.AppendDescriptor;
import dev.ringfetch.index.outcome.OutcomeBudget;
import dev.ringfetch.index.outcome.OutcomeTable;
import dev.ringfetch.index.partition.CommitLog;
import dev.ringfetch.index.partition.Handover;
import dev.ringfetch.index.partition.OwnerContext;
import dev.ringfetch.index.partition.Partition;
import dev.ringfetch.index.partition.PartitionContext;
import dev.ringfetch.index.partition.PutBatch;
import dev.ringfetch.index.partition.TimeSource;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.store.EntryStore;
import dev.ringfetch.index.store.Expiry;
import dev.ringfetch.index.store.OrderedIndex;
import dev.ringfetch.index.store.StoreMemory;
import dev.ringfetch.index.v1.Appends;
import dev.ringfetch.index.v1.Entry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Programs that append to one partition of the world's first group through whatever replica leads,
 * and what must hold: each record stands under its version, times do not go back though the clocks
 * of the nodes differ, of each batch the first so many are written, and each record that was
 * acknowledged is there, once.
 */
final class SimulatedAppends {
  /** The partition that takes appends; all other writes go to the others. */
  static final int PARTITION = 1;

  private static final int BATCH = 6;
  private static final long THINK_NS = 30 * ReplicationWorld.MS;

  private final ReplicationWorld world;
  private final Coverage coverage;
  private final Expiry noDeadlines = noDeadlines();
  private final Map<Long, ByteString> acknowledged = new TreeMap<>();
  private long lastValue;
  private boolean ended;

  SimulatedAppends(ReplicationWorld world, Coverage coverage) {
    this.world = world;
    this.coverage = coverage;
  }

  /** The clock of a partition in which no entry has a deadline. */
  private static Expiry noDeadlines() {
    final DirectRegion gate = new DirectRegion(64);
    gate.putLong(0, 1);
    try {
      final StoreMemory memory =
          new StoreMemory(
              new StoreMemory.Context()
                  .segmentSource(DirectRegion::new)
                  .segmentLength(1 << 20)
                  .budget(1 << 20)
                  .gate(gate, 0)
                  .incarnation(1)
                  .seed(1));
      memory.serve();
      return new OrderedIndex(memory).partition(0).expiry();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  Expiry expiry() {
    return noDeadlines;
  }

  /** The writer of the partition on a node that leads, whose clock is some seconds off. */
  Partition partition(EntryStore store, CommitLog log, long node) {
    final TimeSource time =
        new TimeSource() {
          @Override
          public long wallMs() {
            return world.time().nowNs() / ReplicationWorld.MS + node % 3 * 10_000;
          }

          @Override
          public long runningNs() {
            return world.time().nowNs();
          }

          @Override
          public WakeUp wakeUp(Runnable task) {
            return delayMs -> {};
          }
        };
    return new Partition(
        store,
        log,
        new PartitionContext(
            64,
            new OwnerContext(world::onError, Handover.never(), time),
            new OutcomeTable(new OutcomeBudget(OutcomeBudget.SLOTS_DEFAULT)),
            Appends.getDefaultInstance()));
  }

  /**
   * Checks an entry that is applied, or restored.
   *
   * @param last of the store before it; null: it has none
   */
  void applied(ByteString key, ByteString value, long version, Entry last) {
    if (!key.equals(AppendDescriptor.key(version))) {
      throw new AssertionError("key=" + key + " version=" + version);
    }
    if (last != null
        && version > last.getVersion()
        && AppendDescriptor.time(value) < AppendDescriptor.time(last.getValue())) {
      throw new AssertionError(
          "time="
              + AppendDescriptor.time(value)
              + " version="
              + version
              + " before="
              + AppendDescriptor.time(last.getValue())
              + " of "
              + last.getVersion());
    }
  }

  /** Starts programs, which append until told to end. */
  void start(int count) {
    for (int i = 0; i < count; i++) {
      think();
    }
  }

  void stop() {
    ended = true;
  }

  private void think() {
    world.time().after((long) (world.time().random().nextDouble() * 2 * THINK_NS), this::begin);
  }

  private void begin() {
    final List<SimulatedNode> serving =
        world.nodes().values().stream()
            .filter(node -> node.isAlive() && node.store() != null && node.store().isLeading())
            .toList();
    if (ended) {
      return;
    }
    think();
    if (!serving.isEmpty()) {
      final SimulatedNode node = serving.get(world.time().random().nextInt(serving.size()));
      world.time().after(world.time().delayNs(), () -> node.run(() -> append(node)));
    }
  }

  private void append(SimulatedNode node) {
    if (node.store() == null || !node.store().isLeading()) {
      return;
    }
    final PutBatch batch = new PutBatch(SimulatedAppends.this::answered);
    for (int left = 1 + world.time().random().nextInt(BATCH); left > 0; left--) {
      batch.append(
          node.store().partition(PARTITION), ByteString.copyFromUtf8("value " + ++lastValue));
    }
    batch.submit();
  }

  private void answered(PutBatch batch) {
    boolean isWritten = true;
    long last = 0;
    for (int i = 0; i < batch.size(); i++) {
      final Write write = batch.write(i);
      final boolean isDone = write.outcome() == Write.DONE;
      if (isDone && (!isWritten || write.version() <= last)) {
        throw new AssertionError("i=" + i + " version=" + write.version() + " before=" + last);
      }
      isWritten = isDone;
      last = write.version();
      if (isDone && acknowledged.put(last, AppendDescriptor.record(write.value())) != null) {
        throw new AssertionError("two records have one offset: offset=" + last);
      }
    }
    coverage.count(isWritten ? "appends" : "appends that end early");
  }

  /** Compares what was acknowledged with what a leader has in the end. */
  void check(SimulatedStore store) {
    acknowledged.forEach(
        (offset, record) -> {
          final Entry entry = store.entry(PARTITION, AppendDescriptor.key(offset));
          if (entry == null || !AppendDescriptor.record(entry.getValue()).equals(record)) {
            throw new AssertionError("lost: offset=" + offset + " entry=" + entry);
          }
        });
    final Set<ByteString> once = new HashSet<>();
    for (final Entry entry : store.entries(PARTITION)) {
      if (!once.add(AppendDescriptor.record(entry.getValue()))) {
        throw new AssertionError("twice: offset=" + entry.getVersion());
      }
    }
    coverage.add("acknowledged records", acknowledged.size());
  }
}
