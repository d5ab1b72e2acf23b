package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/**
 * Threads that transfer in banks, and others that read all their accounts, until they are closed.
 */
final class BankTellers implements AutoCloseable {
  private static final int TELLERS = 2;

  private final List<Bank> banks;
  private final List<Thread> threads = new ArrayList<>();
  private final List<Throwable> failures = new CopyOnWriteArrayList<>();
  private volatile boolean ended;

  BankTellers(List<Bank> banks, long seed) {
    this.banks = banks;
    for (final Bank bank : banks) {
      for (int i = 0; i < TELLERS; i++) {
        final Random random = new Random(seed + i);
        start(() -> bank.transfer(random));
      }
      start(bank::check);
    }
  }

  private void start(Runnable work) {
    final Thread thread =
        new Thread(
            () -> {
              while (!ended && failures.isEmpty()) {
                work.run();
              }
            });
    thread.setUncaughtExceptionHandler((of, failure) -> failures.add(failure));
    threads.add(thread);
    thread.start();
  }

  /** Waits until each bank has answered so many more transfers. */
  void await(long count) throws InterruptedException {
    final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(90);
    for (final Bank bank : banks) {
      final long target = bank.answered() + count;
      while (bank.answered() < target && failures.isEmpty()) {
        assertTrue(System.nanoTime() - endNs < 0, "answered=" + bank.answered() + " of " + target);
        Thread.sleep(5);
      }
    }
    assertEquals(List.of(), failures);
  }

  /** Ends the threads, after their last answers. */
  @Override
  public void close() {
    ended = true;
    for (final Thread thread : threads) {
      try {
        thread.join(TimeUnit.SECONDS.toMillis(60));
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
      assertFalse(thread.isAlive(), "it still waits");
    }
    assertEquals(List.of(), failures);
  }
}
