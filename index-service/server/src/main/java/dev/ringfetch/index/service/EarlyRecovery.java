package dev.ringfetch.index.service;

import java.io.IOException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/**
 * A recovery on a thread of its own, which begins at once: beside it the server loads the classes
 * of its transport and opens its port, which takes about as long.
 *
 * <p>Used by one thread at a time.
 */
final class EarlyRecovery {
  /** What recovers. */
  @FunctionalInterface
  interface Step {
    /** Builds the indexes of the journal. */
    void run() throws IOException;
  }

  private final FutureTask<Void> task;

  /** Begins. */
  EarlyRecovery(Step step) {
    task =
        new FutureTask<>(
            () -> {
              step.run();
              return null;
            });
    final Thread thread = new Thread(task, "index-recovery");
    thread.setDaemon(true);
    thread.start();
  }

  /** Waits for the end, and throws what the step has thrown. */
  void await() throws IOException {
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
  void end() {
    try {
      get();
    } catch (ExecutionException e) { // told by await() to who waits there; else not needed
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
