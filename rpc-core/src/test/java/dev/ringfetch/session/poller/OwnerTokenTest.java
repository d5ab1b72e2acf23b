package dev.ringfetch.session.poller;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class OwnerTokenTest {
  private final OwnerToken ownership = new OwnerToken();
  private long plain;

  @Test
  void oneHoldsIt() {
    assertTrue(ownership.tryAcquire());
    assertFalse(ownership.tryAcquire());
    ownership.release();
    assertTrue(ownership.tryAcquire());
  }

  @Test
  void itsHolderKnows() {
    assertFalse(ownership.isMine());
    assertTrue(ownership.tryAcquire());
    assertTrue(ownership.isMine());
    assertFalse(CompletableFuture.supplyAsync(ownership::isMine).join());
    ownership.release();
    assertFalse(ownership.isMine());
  }

  @Test
  @Timeout(60)
  void whatFormerOwnersDidIsVisible() throws Exception {
    int increments = 200_000;
    ExecutorService threads = Executors.newFixedThreadPool(3);
    try {
      List<CompletableFuture<Void>> done = new ArrayList<>();
      for (int thread = 0; thread < 3; thread++) {
        done.add(CompletableFuture.runAsync(() -> increment(increments), threads));
      }
      for (CompletableFuture<Void> one : done) {
        one.get(50, TimeUnit.SECONDS);
      }
    } finally {
      threads.shutdownNow();
    }
    assertTrue(ownership.tryAcquire());
    assertEquals(3L * increments, plain);
  }

  @SuppressWarnings("ThreadPriorityCheck") // two cores: the owner's turn
  private void increment(int times) {
    for (int left = times; left > 0 && !Thread.currentThread().isInterrupted(); ) {
      if (ownership.tryAcquire()) {
        plain++;
        ownership.release();
        left--;
      } else {
        Thread.yield();
      }
    }
  }
}
