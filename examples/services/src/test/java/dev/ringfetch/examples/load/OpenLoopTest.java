package dev.ringfetch.examples.load;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

final class OpenLoopTest {
  private static final int RATE = 1000;
  private static final int MILLIS = 200;

  private final AtomicInteger calls = new AtomicInteger();

  @Test
  void asManyCallsAsAreDueAndNotBeforeTheyAre() {
    final long startNs = System.nanoTime();
    final Figures figures = OpenLoop.punctual().runFor(calls::incrementAndGet, RATE, MILLIS);
    final long elapsedNs = System.nanoTime() - startNs;
    assertEquals(calls.get(), figures.calls());
    if (elapsedNs < 2 * MILLIS * 1_000_000L) { // else the machine has stood still
      assertEquals(MILLIS, calls.get());
    }
    assertTrue(elapsedNs >= (MILLIS - 1) * 1_000_000L, () -> elapsedNs + " ns");
    assertTrue(figures.perSecond() <= RATE * 1.01, figures::toString);
  }

  @Test
  void whatIsTooMuchEndsAllTheSame() {
    final Figures figures =
        OpenLoop.punctual()
            .runFor(
                () -> {
                  calls.incrementAndGet();
                  spin(20);
                },
                RATE,
                MILLIS);
    assertEquals(calls.get(), figures.calls());
    assertTrue(figures.calls() <= 2 * MILLIS / 20, figures::toString);
  }

  private static void spin(int millis) {
    final long endNs = System.nanoTime() + millis * 1_000_000L;
    while (System.nanoTime() < endNs) {
      Thread.onSpinWait();
    }
  }

  /** One call stalls for as long as 50 are due: these count as late, though each is short. */
  @Test
  void callsThatAStallHeldUpCountFromWhenTheyWereDue() {
    final int stallMillis = 50;
    final Figures figures =
        OpenLoop.punctual()
            .runFor(
                () -> {
                  if (calls.incrementAndGet() == 10) {
                    spin(stallMillis);
                  }
                },
                RATE,
                MILLIS);
    // 50 of 200 wait for up to 50 ms; of them 40 for more than 10 ms, which is a fifth of all.
    assertTrue(figures.p99Us() >= 40_000, figures::toString);
  }

  @Test
  void oneThatSleepsMakesAsManyAndCountsFromWhenItWoke() {
    final Figures figures = OpenLoop.sleeping().runFor(calls::incrementAndGet, 20 * RATE, MILLIS);
    assertEquals(calls.get(), figures.calls());
    // A sleeper wakes some 50 us late, when several calls are due: they take nothing by themselves.
    assertTrue(figures.p50Us() < 50, figures::toString);
  }

  @Test
  void noRateIsNoCalls() {
    final long startNs = System.nanoTime();
    final Figures figures = OpenLoop.sleeping().runFor(calls::incrementAndGet, 0, MILLIS);
    assertEquals(0, calls.get());
    assertEquals(0, figures.perSecond());
    assertTrue(System.nanoTime() - startNs >= MILLIS * 1_000_000L);
  }
}
