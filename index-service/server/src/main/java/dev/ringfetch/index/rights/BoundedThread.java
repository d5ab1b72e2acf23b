package dev.ringfetch.index.rights;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * A daemon thread that carries tasks out one after the other, of which a limited number waits. It
 * ends when it had none for a while, and starts again with the next. Thread-safe.
 */
final class BoundedThread {
  private final ThreadPoolExecutor thread;

  /** Creates the thread, not started yet. */
  BoundedThread(String name, int mostWaiting) {
    thread =
        new ThreadPoolExecutor(
            1,
            1,
            1,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(mostWaiting),
            task -> {
              final Thread made = new Thread(task, name);
              made.setDaemon(true);
              return made;
            });
    thread.allowCoreThreadTimeOut(true);
  }

  /** Has the thread carry a task out; false if too many wait, or it has ended. */
  boolean run(Runnable task) {
    try {
      thread.execute(task);
      return true;
    } catch (RejectedExecutionException e) {
      return false;
    }
  }

  /** Carries out the tasks that wait, and takes no others; false if they take longer than that. */
  boolean end(long seconds) throws InterruptedException {
    thread.shutdown();
    return thread.awaitTermination(seconds, TimeUnit.SECONDS);
  }
}
