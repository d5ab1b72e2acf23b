package dev.ringfetch.timer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** How often a task that is asked for runs. */
final class RetryTest {
  private static final long TIMEOUT_S = 60;

  private final BlockingQueue<Integer> runs = new LinkedBlockingQueue<>();
  private int left = 3;
  private final Retry retry = new Retry(this::run, TimeUnit.MILLISECONDS.toNanos(1));

  private void run() {
    runs.add(left);
    if (--left > 0) {
      retry.schedule();
    }
  }

  @Test
  void onceForManyAndAgainFromWithin() throws Exception {
    final CountDownLatch mayRun = new CountDownLatch(1);
    final Future<?> held =
        DeadlineTimer.schedule( // which has one thread
            () -> {
              try {
                assertTrue(mayRun.await(TIMEOUT_S, TimeUnit.SECONDS));
              } catch (InterruptedException e) {
                throw new AssertionError(e);
              }
            },
            0);
    for (int i = 0; i < 5; i++) {
      retry.schedule();
    }
    mayRun.countDown();
    held.get(TIMEOUT_S, TimeUnit.SECONDS);
    for (int expected = 3; expected > 0; expected--) {
      assertEquals(expected, runs.poll(TIMEOUT_S, TimeUnit.SECONDS));
    }
    final Future<?> later = DeadlineTimer.schedule(() -> {}, TimeUnit.MILLISECONDS.toNanos(2));
    later.get(TIMEOUT_S, TimeUnit.SECONDS); // after any other
    assertNull(runs.poll());
  }
}
