package dev.ringfetch.rpc;

import dev.ringfetch.session.DeadlineTimer;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The executor of channels and servers that were given none: as gRPC's, a pool of daemon threads
 * that grows with what runs and shrinks to nothing when idle. Shared, and never shut down.
 */
final class DefaultExecutor {
  private static final long RETRY_NS = TimeUnit.MILLISECONDS.toNanos(10);

  private static final AtomicInteger COUNT = new AtomicInteger();

  static final ExecutorService INSTANCE =
      Executors.newCachedThreadPool(
          task -> {
            final Thread thread = new Thread(task, "ringfetch-executor-" + COUNT.getAndIncrement());
            thread.setDaemon(true);
            return thread;
          });

  private DefaultExecutor() {}

  /**
   * Has a task of our own run by the pool: where there is no thread to be had for it, as soon as
   * there is one. Nobody else would come back to it.
   */
  static void execute(Runnable task) {
    execute(INSTANCE, task);
  }

  /** As {@link #execute(Runnable)}, by such an executor. */
  static void execute(Executor executor, Runnable task) {
    try {
      executor.execute(task);
    } catch (OutOfMemoryError e) { // which is what the lack of a thread is called
      final Future<?> unused = DeadlineTimer.schedule(() -> execute(executor, task), RETRY_NS);
    }
  }
}
