package dev.ringfetch.examples.cluster;

import dev.ringfetch.index.client.Codec;
import dev.ringfetch.index.client.HashIndex;
import dev.ringfetch.index.client.IndexChange;
import dev.ringfetch.index.client.IndexClient;
import dev.ringfetch.index.client.IndexException;
import dev.ringfetch.index.client.Watch;
import dev.ringfetch.index.client.WatchOptions;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A watch of the load's counters over all leaders. Each increment adds one, so a change that is
 * missing, or comes twice, shows in the next one.
 *
 * <p>A thread of its own, from the creation to {@link #awaitAll}. The counts may be read after
 * that.
 */
final class CounterWatch implements AutoCloseable {
  private static final Duration WAIT = Duration.ofSeconds(1);

  /** How long the last changes may take. */
  private static final int END_SECONDS = 60;

  private final IndexClient client;
  private final Watch<String, Long> watch;
  private final Thread thread = new Thread(this::run, "cluster-watch");
  private final Map<String, Long> seen = new HashMap<>(); // guarded by itself
  private final AtomicLong changes = new AtomicLong();
  private final AtomicLong wrong = new AtomicLong();
  private volatile boolean closed;
  private volatile IndexException failure;

  /** Begins to watch; returns when the watch has begun. */
  CounterWatch(String target) {
    client = Workload.client(target);
    boolean began = false;
    try {
      final HashIndex<String, Long> index =
          client.hash(Workload.INDEX, Codec.string(), Codec.int64());
      watch = index.watch(WatchOptions.fromNow());
      began = true;
    } finally {
      if (!began) {
        client.close();
      }
    }
    thread.setDaemon(true);
    thread.start();
  }

  private void run() {
    try {
      while (!closed) {
        watch.next(WAIT).ifPresent(this::take);
      }
    } catch (IndexException e) {
      if (!closed) {
        failure = e;
        System.err.println("the watch has ended: " + e.getMessage());
      }
    } catch (IllegalStateException e) {
      // It was closed.
    }
  }

  private void take(IndexChange<String, Long> change) {
    if (!Workload.isCounter(change.key())) {
      return;
    }
    final long value = change.value().orElse(0L);
    changes.incrementAndGet();
    synchronized (seen) {
      final Long before = seen.put(change.key(), value);
      if (before != null && before + 1 != value) {
        wrong.incrementAndGet();
        System.err.println(
            "changes are missing, or came twice: key="
                + change.key()
                + " before="
                + before
                + " next="
                + value);
      }
    }
  }

  /**
   * Waits until all changes have come, after the load has ended.
   *
   * @return whether they have
   */
  boolean awaitAll(IndexClient fresh) throws InterruptedException {
    final HashIndex<String, Long> index = fresh.hash(Workload.INDEX, Codec.string(), Codec.int64());
    final Map<String, Long> missing;
    synchronized (seen) {
      missing = new HashMap<>(seen);
    }
    missing.replaceAll((key, value) -> index.get(key).orElse(0L));
    final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(END_SECONDS);
    while (true) {
      synchronized (seen) {
        missing.entrySet().removeIf(each -> each.getValue().equals(seen.get(each.getKey())));
      }
      if (missing.isEmpty()) {
        return true;
      }
      if (failure != null || System.nanoTime() - endNs > 0) {
        System.err.println("changes did not come: " + missing + " seen=" + seen);
        return false;
      }
      TimeUnit.MILLISECONDS.sleep(10);
    }
  }

  /** Changes of counters that have come. */
  long changes() {
    return changes.get();
  }

  /** Changes that did not follow the one before; and 1 if the watch has ended by itself. */
  long wrong() {
    return wrong.get() + (failure == null ? 0 : 1);
  }

  @Override
  public void close() {
    closed = true;
    watch.close();
    try {
      thread.join(TimeUnit.SECONDS.toMillis(2));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    client.close();
  }
}
