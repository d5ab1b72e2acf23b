package dev.ringfetch.index.host;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Daemon threads that begin tasks in their order. They end when they had none for a while, and
 * start again with the next.
 *
 * <p>Safe for use by many threads.
 */
public final class BackgroundThreads implements Executor, AutoCloseable {
  private static final int IDLE_SECONDS = 10;
  private static final int END_SECONDS = 5;

  private final ThreadPoolExecutor threads;

  /** Creates one thread, not started yet, with its name: it carries out one task at a time. */
  public BackgroundThreads(String name) {
    this(name, 1);
  }

  /** Creates so many threads, not started yet, with the name of each. */
  public BackgroundThreads(String name, int count) {
    threads =
        new ThreadPoolExecutor(
            count,
            count,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> {
              final Thread created = new Thread(task, name);
              created.setDaemon(true);
              return created;
            });
    threads.allowCoreThreadTimeOut(true);
  }

  /**
   * Carries a task out later.
   *
   * @throws java.util.concurrent.RejectedExecutionException if this is closed.
   */
  @Override
  public void execute(Runnable task) {
    threads.execute(task);
  }

  /** Carries the waiting tasks out, for a few seconds at most, and takes no others. */
  @Override
  public void close() {
    threads.shutdown();
    try {
      threads.awaitTermination(END_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
