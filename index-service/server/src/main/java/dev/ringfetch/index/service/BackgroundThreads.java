package dev.ringfetch.index.service;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * A daemon thread that carries out tasks in their order. It ends when it had none for a while, and
 * starts again with the next.
 *
 * <p>Safe for use by many threads.
 */
final class BackgroundThread implements Executor, AutoCloseable {
  private static final int IDLE_SECONDS = 10;
  private static final int END_SECONDS = 5;

  private final ThreadPoolExecutor thread;

  /** Creates it, not started yet, with the thread's name. */
  BackgroundThread(String name) {
    thread =
        new ThreadPoolExecutor(
            1,
            1,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> {
              final Thread created = new Thread(task, name);
              created.setDaemon(true);
              return created;
            });
    thread.allowCoreThreadTimeOut(true);
  }

  /**
   * Carries a task out later.
   *
   * @throws java.util.concurrent.RejectedExecutionException if this is closed.
   */
  @Override
  public void execute(Runnable task) {
    thread.execute(task);
  }

  /** Carries the waiting tasks out, for a few seconds at most, and takes no others. */
  @Override
  public void close() {
    thread.shutdown();
    try {
      thread.awaitTermination(END_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
