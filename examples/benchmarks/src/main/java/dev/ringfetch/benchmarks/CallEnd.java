package dev.ringfetch.benchmarks;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** How calls that are waited for end. */
final class CallEnd {
  private CallEnd() {}

  /**
   * Waits for what calls give.
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
