package dev.ringfetch.index.client;

import com.google.protobuf.ByteString;
import java.util.concurrent.TimeUnit;

/**
 * A task that runs after appends to a partition of a topic, by one watch. It outlives the watch:
 * after the end of one, for any reason, another one begins. The pauses before them grow until a
 * watch begins.
 *
 * <p>Safe for use by many threads.
 */
public final class TopicWatch implements AutoCloseable {
  private static final long PAUSE_MIN_NS = TimeUnit.MILLISECONDS.toNanos(50);
  private static final long PAUSE_MAX_NS = TimeUnit.SECONDS.toNanos(5);

  private final OrderedIndex<Long, ByteString> index;
  private final Runnable task;
  private final Backoff backoff = new Backoff(PAUSE_MIN_NS, PAUSE_MAX_NS); // guarded by this
  private WatchSubscription<Long, ByteString> watch; // guarded by this
  private boolean closed; // guarded by this

  private TopicWatch(OrderedIndex<Long, ByteString> index, Runnable task) {
    this.index = index;
    this.task = task;
  }

  static TopicWatch start(OrderedIndex<Long, ByteString> index, Runnable task) {
    final TopicWatch started = new TopicWatch(index, task);
    started.watch();
    return started;
  }

  private synchronized void watch() {
    if (!closed) {
      watch = index.watch(Range.all(), WatchOptions.fromNow().keysOnly(), new Listener());
    }
  }

  private synchronized void watchAgain() {
    final IndexCalls calls = index.view().calls();
    if (!closed && !calls.isClosed()) {
      calls.threads().after(backoff.nextNs(), this::watch);
    }
  }

  private synchronized void begun() {
    backoff.reset();
  }

  /** A receiver of the changes of one watch. */
  private final class Listener implements WatchListener<Long, ByteString> {
    private boolean isDue = true; // records may have come before the watch began

    @Override
    public void onChange(IndexChange<Long, ByteString> change) {
      isDue |= change.kind() == IndexChange.Kind.PUT;
    }

    @Override
    public void onProgress(ByteString token) {
      if (isDue) {
        isDue = false;
        task.run();
        begun(); // a task that throws ends each watch
      }
    }

    @Override
    public void onEnd(IndexException failure) {
      watchAgain();
      switch (failure.code()) {
        case OUT_OF_RANGE, RESOURCE_EXHAUSTED, UNAVAILABLE -> {}
        default -> task.run(); // the next read of the partition says what there is
      }
    }
  }

  /** Runs the task no more; one that runs goes on. Idempotent. */
  @Override
  public synchronized void close() {
    closed = true;
    watch.close();
  }
}
