package dev.ringfetch.index.host;

import dev.ringfetch.index.partition.Write;
import java.lang.System.Logger.Level;
import java.util.Collection;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The entries that a server finds at its start with deadlines that came while none ran: a tick of
 * each partition's clock makes them absent, before anybody reads. Used by one thread.
 */
public final class ExpiredMeanwhile {
  private static final System.Logger LOGGER = System.getLogger(ExpiredMeanwhile.class.getName());

  /** Longer than a sync on a busy disk: a start does not wait for one that hangs. */
  private static final int LIMIT_SECONDS = 60;

  private final Collection<ServedIndex> indexes;

  public ExpiredMeanwhile(Collection<ServedIndex> indexes) {
    this.indexes = indexes;
  }

  /**
   * Waits for the commits of the ticks: one sync for all. Where the journal takes none, as the disk
   * is full, has failed, or does not answer within {@value #LIMIT_SECONDS} s, the entries stay
   * until it does, and the log has a warning.
   */
  public void await() {
    final int partitions = indexes.stream().mapToInt(ServedIndex::partitions).sum();
    final CountDownLatch open = new CountDownLatch(partitions);
    final AtomicInteger done = new AtomicInteger();
    for (final ServedIndex index : indexes) {
      index.tick(
          outcome -> {
            if (outcome == Write.DONE) {
              done.incrementAndGet();
            }
            open.countDown();
          });
    }
    try {
      final boolean unused = open.await(LIMIT_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (done.get() < partitions) {
      LOGGER.log(
          Level.WARNING,
          "entries whose deadlines have come may be there still: partitions="
              + (partitions - done.get()));
    }
  }
}
