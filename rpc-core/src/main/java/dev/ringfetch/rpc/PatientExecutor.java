package dev.ringfetch.rpc;

import dev.ringfetch.session.Retry;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * Runs tasks to which nobody would come back: where the executor beneath has no thread to be had
 * for one, it waits until there is one, with a single timer for all. Where there is no memory for
 * that either it runs in the thread that brings it, rather than never.
 */
final class PatientExecutor implements Executor {
  private static final long RETRY_NS = TimeUnit.MILLISECONDS.toNanos(10);

  private final Executor executor;
  private final Queue<Runnable> refused = new ConcurrentLinkedQueue<>();
  private final Retry retry = new Retry(this::executeRefused, RETRY_NS);

  /**
   * Creates it.
   *
   * @param executor rejects nothing.
   */
  PatientExecutor(Executor executor) {
    this.executor = executor;
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
      retry.schedule();
    } catch (OutOfMemoryError e) { // of the heap
      if (!waits || refused.remove(task)) {
        task.run();
      }
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
