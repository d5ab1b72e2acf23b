package dev.ringfetch.index.replay;

import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.store.EntryStore;
import dev.ringfetch.index.store.StoreDamagedException;
import dev.ringfetch.index.store.StoreFullException;
import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * The ways of records into stores that are changed beside the reading of a journal. Several replays
 * may share them: a store that fails takes no more records, and its replay gets the failure.
 *
 * <p>Used by one thread at a time.
 */
public final class ReplayLanes implements AutoCloseable {
  private final @Nullable ReplayThreads threads; // null: the executor is another one's

  /** Those of partitions of hash indexes, and of all in a snapshot. */
  private ReplayLane[] inOrder;

  /** Those of ordered indexes, whose records come in no order. */
  private ReplayLane[] byKeys;

  private final Map<EntryStore, Exception> failures = new ConcurrentHashMap<>();

  /** Creates lanes with threads of their own, which begin with the first records. */
  public ReplayLanes() {
    threads = new ReplayThreads();
    final int count = threads.count();
    inOrder = lanes(threads.executor(), count, false);
    byKeys = lanes(threads.executor(), count, true);
  }

  /**
   * Creates lanes.
   *
   * @param executor changes stores, beside the calling thread
   * @param count partitions that are changed beside each other
   */
  ReplayLanes(Executor executor, int count) {
    threads = null;
    inOrder = lanes(executor, count, false);
    byKeys = lanes(executor, count, true);
  }

  private ReplayLane[] lanes(Executor executor, int count, boolean sorts) {
    final ReplayLane[] lanes = new ReplayLane[count];
    Arrays.setAll(lanes, i -> new ReplayLane(executor, sorts, failures));
    return lanes;
  }

  /**
   * Adds a record to the lane that has all of its partition.
   *
   * @param sorts whether the records of a chunk are carried out by keys
   * @throws IOException if the store has failed
   */
  void add(EntryStore store, JournalRecord record, boolean sorts) throws IOException {
    check(store);
    final long number = record.index() + record.partition();
    final ReplayLane[] lanes = sorts ? byKeys : inOrder;
    lanes[(int) Math.floorMod(number, (long) lanes.length)].add(store, record);
  }

  /**
   * Throws if a record could not be carried out in a store.
   *
   * @throws StoreFullException if there is no memory
   * @throws StoreDamagedException if memory was changed or taken away
   */
  void check(EntryStore store) throws IOException {
    final Exception failure = failures.isEmpty() ? null : failures.get(store);
    if (failure instanceof RuntimeException unchecked) {
      throw unchecked;
    }
    if (failure != null) {
      throw (IOException) failure;
    }
  }

  /** Waits until all records are carried out. */
  void drain() throws IOException {
    for (int i = 0; i < inOrder.length; i++) {
      inOrder[i].drain();
      byKeys[i].drain();
    }
  }

  /** Whether there are lanes: replays that begin later carry each record out at once. */
  boolean isOpen() {
    return inOrder.length > 0;
  }

  /** Ends the lanes, through which all records have passed, or count no more. Idempotent. */
  @Override
  public void close() {
    if (threads != null) {
      threads.close();
    }
    inOrder = new ReplayLane[0];
    byKeys = inOrder;
  }
}
