package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;

/** What becomes of tasks for which there is no thread. */
final class PatientExecutorTest {
  private static final int TASKS = 5;

  private final AtomicInteger lacking = new AtomicInteger(3 * TASKS); // so often there is none
  private final PatientExecutor executor =
      new PatientExecutor(
          task -> {
            if (lacking.getAndDecrement() > 0) {
              throw new OutOfMemoryError("unable to create native thread");
            }
            task.run();
          });

  @Test
  void eachWaitsForOneAndRunsOnce() throws Exception {
    final AtomicIntegerArray runs = new AtomicIntegerArray(TASKS + 1);
    final CountDownLatch ran = new CountDownLatch(TASKS);
    for (int i = 0; i < TASKS; i++) {
      final int number = i;
      executor.execute(
          () -> {
            runs.incrementAndGet(number);
            ran.countDown();
          });
    }
    assertTrue(ran.await(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    executor.execute(() -> runs.incrementAndGet(TASKS)); // at once, now that there are some
    assertEquals("[1, 1, 1, 1, 1, 1]", runs.toString());
  }
}
