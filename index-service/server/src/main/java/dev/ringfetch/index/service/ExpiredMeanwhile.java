package dev.ringfetch.index.service;

import dev.ringfetch.index.partition.Write;
import java.lang.System.Logger.Level;
import java.util.Collection;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The entries that a server finds at its start with deadlines that came while none ran: a tick of
 * each partition's clock makes them absent, before anybody reads. Used by one thread.
 */
final class ExpiredMeanwhile {
  private static final System.Logger LOGGER = System.getLogger(ExpiredMeanwhile.class.getName());

  private final Collection<ServedIndex> indexes;

  ExpiredMeanwhile(Collection<ServedIndex> indexes) {
    this.indexes = indexes;
  }

  /**
   * Waits for the commits of the ticks: one sync for all. Where the journal takes none, as the disk
   * is full or has failed, the entries stay until it does, and the log has a warning.
   */
  void await() {
    final int partitions = indexes.stream().mapToInt(ServedIndex::partitions).sum();
    final CountDownLatch open = new CountDownLatch(partitions);
    final AtomicInteger failed = new AtomicInteger();
    for (final ServedIndex index : indexes) {
      index.tick(
          outcome -> {
            if (outcome != Write.DONE) {
              failed.incrementAndGet();
            }
            open.countDown();
          });
    }
    try {
      open.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (failed.get() > 0) {
      LOGGER.log(
          Level.WARNING,
          "entries whose deadlines have come may be there still: partitions=" + failed.get());
    }
  }
}
