package dev.ringfetch.index.call;

import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.journal.JournalReader;
import dev.ringfetch.index.partition.OwnerTask;
import dev.ringfetch.index.watch.ChangeRing;
import dev.ringfetch.index.watch.RingBudget;
import dev.ringfetch.index.watch.WatchedIndex;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The changes of one index that is watched, and the watches of it. Each partition's owner tells its
 * changes to a ring; the watches are driven by a task, which is on its way whenever a ring has
 * more.
 *
 * <p>Safe for use by many threads.
 */
final class IndexFeeds implements WatchedIndex {
  private final ServedIndex index;
  private final @Nullable JournalReader journal; // null: the index is not in it
  private final RingBudget budget;
  private final Executor executor;
  private final AtomicReferenceArray<ChangeRing> rings;
  private final Set<WatchCall> calls = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean woken = new AtomicBoolean();
  private final Runnable task = this::drive;

  /** Since when there is no watch, of a clock that never goes back. For {@link WatchCalls}. */
  private long idleSinceNs;

  IndexFeeds(ServedIndex index, JournalReader journal, RingBudget budget, Executor executor) {
    this.index = index;
    this.journal = journal;
    this.budget = budget;
    this.executor = executor;
    rings = new AtomicReferenceArray<>(index.partitions());
  }

  ServedIndex index() {
    return index;
  }

  /**
   * Takes the rings that a member has kept, before calls come.
   *
   * @param kept by partition
   */
  void lead(ChangeRing[] kept, long nowNs) {
    idleSinceNs = nowNs;
    for (int i = 0; i < kept.length; i++) {
      final ChangeRing ring = kept[i];
      ring.lead(this::wake);
      rings.set(i, ring);
      if (index.partition(i).submit(OwnerTask.watch(ring, task -> {})) != 0) {
        rings.set(i, null); // it is not told; watches begin with another one
        ring.close();
      }
    }
  }

  Set<WatchCall> calls() {
    return calls;
  }

  /** Notes whether there are watches; returns since when there are none. */
  long idleSince(long nowNs) {
    if (!calls.isEmpty()) {
      idleSinceNs = nowNs;
    }
    return idleSinceNs;
  }

  /**
   * Has the owner of a partition tell its changes from now on, if it does not yet.
   *
   * @param answered is told when it does
   * @return 0, or as {@link dev.ringfetch.index.partition.Partition#submit}
   */
  int begin(int partition, Consumer<OwnerTask> answered) {
    final ChangeRing ring;
    synchronized (this) {
      if (rings.get(partition) == null) {
        rings.set(partition, new ChangeRing(budget, this::wake));
      }
      ring = rings.get(partition);
    }
    return index.partition(partition).submit(OwnerTask.watch(ring, answered));
  }

  /** Has the owners tell no more changes; returns false if that is to be tried again. */
  boolean end() {
    boolean ended = true;
    for (int i = 0; i < rings.length(); i++) {
      final ChangeRing ring = rings.get(i);
      if (ring != null) {
        if (index.partition(i).submit(OwnerTask.unwatch(ring, task -> {})) == 0) {
          rings.set(i, null);
          ring.close();
        } else {
          ended = false;
        }
      }
    }
    return ended;
  }

  /** Has the watches driven soon. Any thread; does not block. */
  void wake() {
    if (!woken.get() && woken.compareAndSet(false, true)) {
      try {
        executor.execute(task);
      } catch (RejectedExecutionException | OutOfMemoryError e) { // it ends, or has no thread
        woken.set(false);
      }
    }
  }

  private void drive() {
    woken.set(false); // first: what comes later needs another task, or is seen here
    for (final WatchCall call : calls) {
      call.drive();
    }
  }

  @Override
  public long number() {
    return index.entry().number();
  }

  @Override
  public long incarnation() {
    return index.incarnation();
  }

  @Override
  public ChangeRing ring(int partition) {
    return rings.get(partition);
  }

  @Override
  public long durable(int partition) {
    return index.partition(partition).durable();
  }

  @Override
  public JournalReader journal() {
    return journal;
  }
}
