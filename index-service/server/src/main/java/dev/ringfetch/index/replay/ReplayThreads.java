package dev.ringfetch.index.replay;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** The threads of a recovery that change stores, beside the one that reads. */
public final class ReplayThreads implements AutoCloseable {
  /** One thread reads as fast as about so many change stores. */
  private static final int MOST = 4;

  private final int count = Math.min(MOST, Runtime.getRuntime().availableProcessors());
  private final ExecutorService executor =
      Executors.newFixedThreadPool(
          count,
          task -> {
            final Thread thread = new Thread(task, "index-replay");
            thread.setDaemon(true);
            return thread;
          });

  /** Number of threads. */
  public int count() {
    return count;
  }

  public ExecutorService executor() {
    return executor;
  }

  /** Waits until all that was begun has ended. */
  @Override
  public void close() {
    executor.shutdown();
    boolean interrupted = false;
    boolean ended = false;
    while (!ended) {
      try {
        ended = executor.awaitTermination(1, TimeUnit.MINUTES);
      } catch (InterruptedException e) { // memory must not be given back before
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
