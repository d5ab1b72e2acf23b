package dev.ringfetch.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.examples.load.Figures;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class FuturesInFlightTest {
  private static final int ANSWER = 7;

  private final ExecutorService pool = Executors.newFixedThreadPool(4);
  private final AtomicInteger issued = new AtomicInteger();
  private final AtomicInteger inFlight = new AtomicInteger();
  private final AtomicInteger most = new AtomicInteger();

  @AfterEach
  void end() {
    pool.shutdown();
  }

  private Future<Integer> call() {
    issued.incrementAndGet();
    most.accumulateAndGet(inFlight.incrementAndGet(), Math::max);
    return pool.submit(
        () -> {
          inFlight.decrementAndGet();
          return ANSWER;
        });
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 64})
  void neverMoreThanAskedForAndAllEnd(int limit) throws InterruptedException {
    final FuturesInFlight<Integer> calls =
        new FuturesInFlight<>(this::call, answer -> answer == ANSWER);
    for (int round = 0; round < 2; round++) {
      final int before = issued.get();
      final Figures figures = calls.runFor(limit, 50);
      assertEquals(issued.get() - before, figures.calls());
      assertEquals(0, inFlight.get());
      assertTrue(most.get() <= limit && figures.calls() >= limit, figures::toString);
      assertTrue(figures.perSecond() > 0 && figures.p50Us() <= figures.p999Us(), figures::toString);
    }
  }

  @Test
  void wrongAnswersAndFailuresEndTheRun() {
    final FuturesInFlight<Integer> wrong = new FuturesInFlight<>(this::call, answer -> false);
    assertEquals(
        "not what was asked",
        assertThrows(IllegalStateException.class, () -> wrong.runFor(4, 60_000)).getMessage());
    final FuturesInFlight<Integer> failing =
        new FuturesInFlight<>(
            () ->
                pool.submit(
                    () -> {
                      throw new IllegalStateException("of the call");
                    }),
            answer -> true);
    assertEquals(
        "a call failed: of the call",
        assertThrows(IllegalStateException.class, () -> failing.runFor(4, 60_000)).getMessage());
  }
}
