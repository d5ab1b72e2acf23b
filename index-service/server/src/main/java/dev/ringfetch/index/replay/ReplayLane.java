package dev.ringfetch.index.replay;

import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.store.EntryStore;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * The way of the records of some partitions into their stores: one chunk is carried out on an
 * executor while the next one fills. So reading and the changes of stores go on beside each other.
 *
 * <p>Used by one thread at a time.
 */
final class ReplayLane {
  private final Executor executor;
  private final Map<EntryStore, Exception> failures;
  private ReplayChunk filling;
  private ReplayChunk other;
  private @Nullable ParallelStep step; // carries the other chunk out; null: nothing does

  /**
   * Creates a lane without records.
   *
   * @param sorts whether the records of a chunk are carried out by keys
   * @param failures gets those of stores, by store
   */
  ReplayLane(Executor executor, boolean sorts, Map<EntryStore, Exception> failures) {
    this.failures = failures;
    this.executor = executor;
    filling = new ReplayChunk(sorts);
    other = new ReplayChunk(sorts);
  }

  /** Adds a record, which is copied. */
  void add(EntryStore store, JournalRecord record) throws IOException {
    filling.add(store, record);
    if (filling.isFull()) {
      handOver();
    }
  }

  private void handOver() throws IOException {
    await();
    final ReplayChunk full = filling;
    filling = other;
    other = full;
    step = new ParallelStep(executor, () -> full.apply(failures));
  }

  private void await() throws IOException {
    if (step != null) {
      final ParallelStep begun = step;
      step = null;
      begun.await();
    }
  }

  /** Waits until all records are carried out. */
  void drain() throws IOException {
    if (!filling.isEmpty()) {
      handOver();
    }
    await();
  }
}
