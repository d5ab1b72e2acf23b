package dev.ringfetch.index.client;

import com.google.protobuf.ByteString;

/**
 * A task that runs after appends to a partition of a topic, by one watch. It outlives the watch:
 * another one begins after an end for which the server, a slow task or an outage is the reason.
 *
 * <p>Safe for use by many threads.
 */
public final class TopicWatch implements AutoCloseable {
  private final OrderedIndex<Long, ByteString> index;
  private final Runnable task;
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
      }
    }

    @Override
    public void onEnd(IndexException failure) {
      switch (failure.code()) {
        case OUT_OF_RANGE, RESOURCE_EXHAUSTED, UNAVAILABLE -> watch();
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
