package dev.ringfetch.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.examples.load.Figures;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class PooledCallsTest {
  private static final int ANSWER = 7;

  private final ExecutorService pool = Executors.newFixedThreadPool(4);
  private final AtomicInteger issued = new AtomicInteger();
  private final AtomicInteger inFlight = new AtomicInteger();
  private final AtomicInteger most = new AtomicInteger();

  @AfterEach
  void end() {
    pool.shutdown();
  }

  private void call(StreamObserver<Integer> observer) {
    final int number = issued.incrementAndGet();
    most.accumulateAndGet(inFlight.incrementAndGet(), Math::max);
    pool.execute(
        () -> {
          inFlight.decrementAndGet();
          answer(number, observer);
        });
  }

  /** As each test has it. */
  private void answer(int number, StreamObserver<Integer> observer) {
    if (number == failing) {
      observer.onError(new IllegalStateException("of the tenth"));
    } else {
      observer.onNext(number == wrong ? ANSWER + 1 : ANSWER);
      observer.onCompleted();
    }
  }

  private int failing = -1;
  private int wrong = -1;

  private Figures run(int limit, long millis) throws InterruptedException {
    return new PooledCalls<Integer>(this::call, answer -> answer == ANSWER).runFor(limit, millis);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 64})
  void neverMoreThanAskedForAndAllEnd(int limit) throws InterruptedException {
    final Figures figures = run(limit, 50);
    assertEquals(issued.get(), figures.calls());
    assertEquals(0, inFlight.get());
    assertTrue(most.get() <= limit && figures.calls() >= limit, figures::toString);
    assertTrue(figures.perSecond() > 0 && figures.p50Us() <= figures.p999Us(), figures::toString);
  }

  @Test
  void theFirstFailureIsToldWhenTheRestHasEnded() {
    failing = 10;
    final IllegalStateException thrown =
        assertThrows(IllegalStateException.class, () -> run(4, 60_000));
    assertEquals("a call failed: of the tenth", thrown.getMessage());
    assertEquals(0, inFlight.get());
  }

  @Test
  void wrongAnswersAreFailures() {
    wrong = 10;
    assertEquals(
        "a call failed: not what was asked",
        assertThrows(IllegalStateException.class, () -> run(4, 60_000)).getMessage());
  }
}
