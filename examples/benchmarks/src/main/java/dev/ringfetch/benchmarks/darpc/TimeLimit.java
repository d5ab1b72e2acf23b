package dev.ringfetch.benchmarks.darpc;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A time limit for calls that have none of their own. A call that exceeds it goes on in its thread.
 */
final class TimeLimit {
  private TimeLimit() {}

  /**
   * Runs a task in a thread of its own.
   *
   * @param what it is, for the message.
   * @param seconds that it may take.
   * @throws IllegalStateException if it lasts, or fails.
   */
  static <T> T within(String what, int seconds, Callable<T> action) throws InterruptedException {
    final FutureTask<T> task = new FutureTask<>(action);
    final Thread thread = new Thread(task, what);
    thread.setDaemon(true);
    thread.start();
    try {
      return task.get(seconds, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      throw new IllegalStateException(what + " does not end within " + seconds + " s", e);
    } catch (ExecutionException e) {
      throw new IllegalStateException(what + ": " + e.getCause(), e);
    }
  }
}
