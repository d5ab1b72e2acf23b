package dev.ringfetch.rpc;

import dev.ringfetch.session.poller.Callbacks;
import dev.ringfetch.timer.Retry;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/**
 * Executor for tasks that must not be lost: where the underlying executor cannot get a thread for a
 * task, the task waits until it can, with a single timer for all. Where there is no memory for that
 * either, the task runs on the submitting thread.
 */
final class RetryingExecutor implements Executor {
  private static final long RETRY_NS = TimeUnit.MILLISECONDS.toNanos(10);

  private final Executor executor;
  private final Queue<Runnable> refused = new ConcurrentLinkedQueue<>();
  private final Runnable retry;

  /**
   * Creates an executor over another one.
   *
   * @param executor executor that rejects no task.
   */
  RetryingExecutor(Executor executor) {
    this(executor, task -> new Retry(task, RETRY_NS)::schedule);
  }

  /**
   * Creates an executor with the given way to retry; for tests.
   *
   * @param retries wraps a task so that it runs later, as {@link Retry#schedule} does.
   */
  RetryingExecutor(Executor executor, UnaryOperator<Runnable> retries) {
    this.executor = executor;
    this.retry = retries.apply(this::executeRefused);
  }

  @Override
  public void execute(Runnable task) {
    try {
      executor.execute(task);
    } catch (OutOfMemoryError e) { // which is what the lack of a thread is called, too
      executeLater(task);
    }
  }

  private void executeLater(Runnable task) {
    boolean waits = false;
    try {
      waits = refused.add(task);
      retry.run();
    } catch (OutOfMemoryError e) { // of the heap
      if (!waits) {
        Callbacks.run(task);
      }
      runRefused();
    }
  }

  /** Runs all tasks that wait, since they may wait for a timer that could not be created. */
  private void runRefused() {
    for (Runnable task = refused.poll(); task != null; task = refused.poll()) {
      Callbacks.run(task);
    }
  }

  private void executeRefused() {
    Runnable task;
    while ((task = refused.poll()) != null) {
      try {
        executor.execute(task);
      } catch (OutOfMemoryError e) {
        executeLater(task);
        return;
      }
    }
  }
}
