package dev.ringfetch.index.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.index.disk.SimulatedDisk;
import dev.ringfetch.index.journal.CatalogEntry;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.journal.Journal;
import dev.ringfetch.index.journal.JournalContext;
import dev.ringfetch.index.journal.PartitionLog;
import dev.ringfetch.index.journal.RecordSink;
import dev.ringfetch.index.outcome.OutcomeBudget;
import dev.ringfetch.index.partition.CommitLog;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.store.EntryStore;
import dev.ringfetch.index.store.StoreMemory;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.IndexKind;
import java.io.IOException;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;

/** Stores that a replay changes beside its reading, by keys or not: as if one by one. */
class ReplayLaneTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 20_261_127L);
  private static final int EPOCH = 9;

  private final Random random = new Random(SEED);
  private final SimulatedDisk disk = new SimulatedDisk();

  /** What is in the index that was written, by key. */
  private final Map<ByteString, Long> expected =
      new TreeMap<>(ByteString.unsignedLexicographicalComparator());

  private static StoreMemory memory() throws IOException {
    final DirectRegion gate = new DirectRegion(64);
    return new StoreMemory(
        new StoreMemory.Context()
            .segmentSource(DirectRegion::new)
            .segmentLength(4 << 20)
            .budget(64L << 20)
            .gate(gate, 0)
            .incarnation(EPOCH)
            .seed(SEED));
  }

  /** Puts and deletes of few keys, some of which begin as others end. */
  private void write() throws IOException {
    final Journal journal = open((record, place) -> {});
    final CommitLog log = new PartitionLog(journal, 1, 0, Durability.DISK, 0);
    log.onCommit(() -> {});
    for (int i = 0; i < 20_000; i++) {
      final int number = random.nextInt(500);
      final ByteString key =
          ByteString.copyFromUtf8("prefix" + Integer.toString(number, 2))
              .concat(ByteString.copyFrom(new byte[number % 3]));
      final boolean isPut = random.nextInt(3) > 0 || !expected.containsKey(key);
      final Write write = new Write(done -> {});
      final long lsn =
          log.append(
              isPut ? write.put(key, ByteString.copyFrom(new byte[i % 70])) : write.delete(key));
      if (isPut) {
        expected.put(key, lsn);
      } else {
        expected.remove(key);
      }
      while (i % 100 == 0 && journal.work(i) == 0) {
        // more to do
      }
    }
    journal.close();
  }

  private Journal open(RecordSink sink) throws IOException {
    return Journal.open(disk, new JournalContext().segmentLength(4 << 20).owner(5, EPOCH), sink);
  }

  private void check(IndexKind kind, Executor executor, int lanes) throws IOException {
    write();
    final JournalReplay replay =
        new JournalReplay(
            memory(),
            new OutcomeBudget(OutcomeBudget.SLOTS_DEFAULT),
            new ReplayLanes(executor, lanes));
    final IndexDefinition definition = new IndexDefinition(kind, Durability.DISK, 1, SEED, 1);
    final EntryStore store =
        replay.create(new CatalogEntry(1, "index", definition)).index().partition(0);
    open(replay).close();
    assertEquals(expected.size(), store.count(), "seed=" + SEED);
    expected.forEach((key, lsn) -> assertEquals(lsn, store.version(key), "seed=" + SEED));
  }

  @Test
  void anOrderedIndexIsAsItWas() throws IOException {
    check(IndexKind.ORDERED, Runnable::run, 1);
  }

  @Test
  void aHashIndexIsAsItWas() throws IOException {
    check(IndexKind.HASH, Runnable::run, 3);
  }

  @Test
  void stepsRunOnOtherThreads() throws IOException {
    try (ReplayThreads threads = new ReplayThreads()) {
      check(IndexKind.HASH, threads.executor(), threads.count());
    }
  }

  @Test
  void theFailureOfAStepIsThrownWhereItIsAwaited() {
    final IOException failure = new IOException("no room");
    final ParallelStep step =
        new ParallelStep(
            Runnable::run,
            () -> {
              throw failure;
            });
    assertSame(failure, assertThrows(IOException.class, step::await));
  }
}
