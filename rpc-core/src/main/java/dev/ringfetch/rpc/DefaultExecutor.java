package dev.ringfetch.rpc;

import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The executor of channels and servers that were given none: as gRPC's, a pool of daemon threads
 * that grows with what runs and shrinks to nothing when idle. Shared, and never shut down.
 */
final class DefaultExecutor {
  private static final AtomicInteger COUNT = new AtomicInteger();

  static final ExecutorService INSTANCE =
      Executors.newCachedThreadPool(
          task -> {
            final Thread thread = new Thread(task, "ringfetch-executor-" + COUNT.getAndIncrement());
            thread.setDaemon(true);
            return thread;
          });

  /** The same pool, for what is our own to run. */
  static final Executor RETRYING = new RetryingExecutor(INSTANCE);

  private DefaultExecutor() {}
}
