package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;

/** What becomes of tasks for which there is no thread. */
final class RetryingExecutorTest {
  private static final int TASKS = 5;

  private final AtomicInteger lacking = new AtomicInteger(3 * TASKS); // so often there is none
  private final RetryingExecutor executor =
      new RetryingExecutor(
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

  /** What another thread has added, which takes a timer for set that could not be. */
  @Test
  void withoutATimerAllRunInTheThreadThatCouldNotSetIt() {
    final List<String> ran = new ArrayList<>();
    final AtomicInteger asked = new AtomicInteger();
    final RetryingExecutor[] lonely = new RetryingExecutor[1];
    lonely[0] =
        new RetryingExecutor(
            task -> {
              throw new OutOfMemoryError("unable to create native thread");
            },
            task ->
                () -> {
                  if (asked.getAndIncrement() == 0) {
                    lonely[0].execute(() -> ran.add("other"));
                    throw new OutOfMemoryError("Java heap space");
                  }
                });
    lonely[0].execute(() -> ran.add("own"));
    assertEquals(List.of("own", "other"), ran);
  }
}
