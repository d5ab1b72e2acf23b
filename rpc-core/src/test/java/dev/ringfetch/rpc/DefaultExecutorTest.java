package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What becomes of tasks of our own. */
final class DefaultExecutorTest {
  @Test
  void aTaskWaitsForAThreadThatIsToBeHad() throws Exception {
    final AtomicInteger tries = new AtomicInteger();
    final Executor scarce =
        task -> {
          if (tries.incrementAndGet() <= 3) {
            throw new OutOfMemoryError("unable to create native thread");
          }
          task.run();
        };
    final CompletableFuture<Integer> ran = new CompletableFuture<>();
    DefaultExecutor.execute(scarce, () -> ran.complete(tries.get()));
    assertEquals(4, ran.get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
  }

  @Test
  void whatIsRejectedIsNotTriedAgain() {
    final Executor ended =
        task -> {
          throw new RejectedExecutionException("intended");
        };
    assertThrows(RejectedExecutionException.class, () -> DefaultExecutor.execute(ended, () -> {}));
  }

  @Test
  void thePoolRunsIt() throws Exception {
    final CompletableFuture<String> name = new CompletableFuture<>();
    DefaultExecutor.execute(() -> name.complete(Thread.currentThread().getName()));
    assertEquals(
        "ringfetch-executor-",
        name.get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS).replaceAll("[0-9]+$", ""));
  }
}
