package dev.ringfetch.benchmarks;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The waits for the ends of calls. */
final class CallEnd {
  private CallEnd() {}

  /**
   * Waits for the results of calls.
   *
   * @throws IllegalStateException if one fails, or they do not end in time.
   */
  static <T> T await(Future<T> future, long millis) throws InterruptedException {
    try {
      return future.get(millis, TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      throw new IllegalStateException("a call failed: " + e.getCause().getMessage(), e.getCause());
    } catch (TimeoutException e) {
      throw new IllegalStateException("calls that do not end", e);
    }
  }
}
