package dev.ringfetch.index.replay;

import java.io.IOException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;

/**
 * A step of a recovery that runs on another thread, and whose failure the thread gets that waits
 * for the end. Used by one thread at a time.
 */
public final class ParallelStep {
  /** The step itself. */
  @FunctionalInterface
  public interface Step {
    /** Does it. */
    void run() throws IOException;
  }

  private final FutureTask<Void> task;

  /** Begins. */
  public ParallelStep(Executor executor, Step step) {
    task =
        new FutureTask<>(
            () -> {
              step.run();
              return null;
            });
    executor.execute(task);
  }

  /** Waits for the end, and throws what the step has thrown. */
  public void await() throws IOException {
    try {
      get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof IOException failure) {
        throw failure;
      }
      if (e.getCause() instanceof RuntimeException failure) {
        throw failure;
      }
      if (e.getCause() instanceof Error failure) {
        throw failure;
      }
      throw new AssertionError(e);
    }
  }

  /** Waits for the end, whatever it is. */
  public void end() {
    try {
      get();
    } catch (ExecutionException e) { // await() throws it, if that is called
      return;
    }
  }

  /** Waits without heed of interrupts: what the step uses cannot be given up before its end. */
  private void get() throws ExecutionException {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          task.get();
          return;
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
