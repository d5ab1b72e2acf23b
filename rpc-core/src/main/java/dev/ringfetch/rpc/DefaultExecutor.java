package dev.ringfetch.rpc;

import dev.ringfetch.timer.DaemonThreads;
import dev.ringfetch.timer.DeadlineTimer;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The executor of channels and servers that were given none: as gRPC's, a pool of daemon threads
 * that grows with what runs and shrinks to nothing when idle. Shared, and never shut down; but no
 * thread outlives its users by more than some seconds.
 */
final class DefaultExecutor {
  private static final AtomicInteger COUNT = new AtomicInteger();

  private static final long LINGER_S = 3;

  static final ExecutorService INSTANCE =
      new ThreadPoolExecutor(
          0,
          Integer.MAX_VALUE,
          LINGER_S,
          TimeUnit.SECONDS,
          new SynchronousQueue<>(),
          task -> DaemonThreads.create(task, "ringfetch-executor-" + COUNT.getAndIncrement()));

  /** The same pool, for Ringfetch's own tasks. */
  static final Executor RETRYING = new RetryingExecutor(INSTANCE);

  private DefaultExecutor() {}

  /**
   * Runs a task of Ringfetch's own after a time, on a thread of the pool, which it may keep.
   *
   * @param delayNs in nanoseconds.
   * @return a future whose cancel, before that time, stops the task.
   */
  static Future<?> schedule(Runnable task, long delayNs) {
    return DeadlineTimer.schedule(() -> RETRYING.execute(task), delayNs);
  }
}
