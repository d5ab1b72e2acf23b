package dev.ringfetch.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.hunt.Rounds;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.inprocess.InProcessServerBuilder;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The queue of a lock: one holder at a time, in order, and no cohort starves. */
@Timeout(120)
class OwnerLockTest {
  private static final int BUDGET = 3;
  private static final Duration WAIT = Duration.ofSeconds(60);

  private final Regions regions =
      Regions.on(InProcessServerBuilder.forName("unused"), List.of(), BUDGET);
  private final OwnerLock lock = regions.lock("printer");

  @AfterEach
  void end() {
    regions.close();
  }

  /** A waiter that notes its hold. */
  private static final class Noted implements OwnerLock.Waiter {
    LockHold hold;
    boolean isRefused;

    @Override
    public void granted(LockHold granted) {
      assertNull(hold, "granted twice");
      assertFalse(isRefused);
      hold = granted;
    }

    @Override
    public void refused(StatusRuntimeException reason) {
      isRefused = true;
    }
  }

  /** A random history: waiters come, give up and die, holders release, some of them twice. */
  @Test
  void oneHolderAtATimeInOrderAndNoCohortStarves() {
    long firstSeed = Long.getLong("ringfetch.seed", 1);
    for (long seed = firstSeed; seed < firstSeed + Rounds.of(200, 50); seed++) {
      try (OwnerLock own = regions.lock("lock " + seed)) {
        history(own, new SplittableRandom(seed));
      } catch (AssertionError e) {
        throw new AssertionError("seed=" + seed + ": " + e.getMessage(), e);
      }
    }
  }

  private static void history(OwnerLock lock, SplittableRandom random) {
    List<Deque<Noted>> queues = List.of(new ArrayDeque<>(), new ArrayDeque<>());
    Noted holder = null;
    long fence = 0;
    int cohort = 0;
    int inARow = 0; // to the cohort while the other one waited
    for (int step = 0; step < 500; step++) {
      int asked = random.nextInt(2);
      switch (random.nextInt(4)) {
        case 0, 1 -> {
          Noted waiter = new Noted();
          lock.enter(waiter, asked == 1);
          if (holder == null) {
            assertNotNull(waiter.hold, "a free lock is granted at once");
            holder = waiter;
          } else {
            queues.get(asked).add(waiter);
          }
        }
        case 2 -> {
          Noted last = queues.get(asked).pollLast();
          assertEquals(last != null, last != null && lock.forget(last));
        }
        default -> {
          if (holder == null) {
            break;
          }
          LockHold released = holder.hold;
          released.close();
          boolean bothWaited = queues.stream().noneMatch(Deque::isEmpty);
          holder = null;
          for (int i = 0; i < 2; i++) {
            Noted first = queues.get(i).peek();
            if (first != null && first.hold != null) {
              assertNull(holder, "two holders");
              holder = queues.get(i).poll();
              inARow = i == cohort && bothWaited ? inARow + 1 : 1;
              cohort = i;
            }
          }
          assertTrue(inARow <= BUDGET, "a cohort starves: " + inARow);
          inARow = holder == null ? 0 : inARow; // free: nobody waited
          boolean anyWaits = queues.stream().anyMatch(queue -> !queue.isEmpty());
          assertTrue(holder != null || !anyWaits, "nobody was granted the lock");
          assertFalse(released.isHeld());
          if (random.nextBoolean()) {
            released.close();
          }
        }
      }
      for (Deque<Noted> queue : queues) {
        queue.forEach(waiter -> assertNull(waiter.hold, "not in its turn"));
      }
      if (holder != null) {
        assertTrue(holder.hold.isHeld());
        assertTrue(lock.isHeldBy(holder.hold.fence()));
        assertFalse(lock.isHeldBy(holder.hold.fence() - 1));
        assertTrue(holder.hold.fence() >= fence, "fences grow");
        fence = holder.hold.fence();
      } else {
        assertFalse(lock.isHeldBy(fence));
      }
    }
  }

  @Test
  void fencesGrowWithEachHold() {
    long last = 0;
    for (int i = 0; i < 10; i++) {
      try (LockHold hold = lock.acquire(WAIT).orElseThrow()) {
        assertTrue(hold.fence() > last, hold + " after " + last);
        last = hold.fence();
      }
    }
    Noted waiter = new Noted();
    try (LockHold hold = lock.acquire(WAIT).orElseThrow()) {
      lock.enter(waiter, true);
      last = hold.fence();
    }
    assertTrue(waiter.hold.fence() > last, "handed over");
  }

  /** Also within a millisecond: what the lock guards has seen those of the former lock. */
  @Test
  void fencesGrowWhenTheNameIsTakenAnew() {
    long last = 0;
    for (int i = 0; i < 100; i++) {
      try (OwnerLock own = regions.lock("anew")) {
        for (int j = 0; j < 3; j++) {
          try (LockHold hold = own.acquire(WAIT).orElseThrow()) {
            assertTrue(hold.fence() > last, hold + " after " + last);
            last = hold.fence();
          }
        }
      }
    }
  }

  @Test
  void threadsExcludeEachOther() throws Exception {
    long[] counts = new long[2]; // not atomic: the lock makes it so
    List<CompletableFuture<Void>> threads = new ArrayList<>();
    int rounds = Rounds.once(20_000, 5_000);
    for (int i = 0; i < 3; i++) {
      threads.add(
          CompletableFuture.runAsync(
              () -> {
                for (int round = 0; round < rounds; round++) {
                  try (LockHold hold = lock.acquire(WAIT).orElseThrow()) {
                    assertTrue(hold.fence() > counts[1]);
                    counts[1] = hold.fence();
                    counts[0]++;
                  }
                }
              },
              task -> new Thread(task).start()));
    }
    for (CompletableFuture<Void> thread : threads) {
      thread.get(100, TimeUnit.SECONDS);
    }
    assertEquals(3L * rounds, counts[0]);
  }

  /** Waiters that give up while they are granted the lock pass it on. */
  @Test
  void impatientThreadsLoseNoLock() throws Exception {
    AtomicBoolean over = new AtomicBoolean();
    List<CompletableFuture<Long>> threads = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      threads.add(
          CompletableFuture.supplyAsync(
              () -> {
                long held = 0;
                while (!over.get()) {
                  Optional<LockHold> hold = lock.acquire(Duration.ofNanos(20_000));
                  held += hold.isPresent() ? 1 : 0;
                  hold.ifPresent(LockHold::close);
                }
                return held;
              },
              task -> new Thread(task).start()));
    }
    Thread.sleep(Rounds.once(1000, 200));
    over.set(true);
    for (CompletableFuture<Long> thread : threads) {
      assertTrue(thread.get(100, TimeUnit.SECONDS) > 0);
    }
    lock.acquire(Duration.ZERO).orElseThrow().close();
  }

  @Test
  void interruptEndsTheWait() throws Exception {
    LockHold hold = lock.acquire(WAIT).orElseThrow();
    CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () ->
                interrupted.complete(
                    lock.acquire(WAIT).isEmpty() && Thread.currentThread().isInterrupted()));
    thread.start();
    Thread.sleep(10);
    thread.interrupt();
    assertTrue(interrupted.get(60, TimeUnit.SECONDS));
    hold.close();
    lock.acquire(Duration.ZERO).orElseThrow().close();
  }

  @Test
  void waitersHaveALimit() {
    LockHold hold = lock.acquire(WAIT).orElseThrow();
    for (int i = 0; i < Waiting.LIMIT; i++) {
      lock.enter(new Noted(), true);
    }
    StatusRuntimeException thrown =
        assertThrows(StatusRuntimeException.class, () -> lock.enter(new Noted(), true));
    assertEquals(Status.Code.RESOURCE_EXHAUSTED, thrown.getStatus().getCode());
    lock.enter(new Noted(), false); // the other cohort has room
    hold.close();
  }

  @Test
  void closingRefusesWaiters() {
    LockHold hold = lock.acquire(WAIT).orElseThrow();
    Noted thread = new Noted();
    Noted client = new Noted();
    lock.enter(thread, false);
    lock.enter(client, true);
    lock.close();
    assertTrue(thread.isRefused && client.isRefused);
    assertTrue(hold.isHeld(), "the holder may finish");
    hold.close();
    assertFalse(hold.isHeld());
    StatusRuntimeException thrown =
        assertThrows(StatusRuntimeException.class, () -> lock.acquire(WAIT));
    assertEquals(Status.Code.NOT_FOUND, thrown.getStatus().getCode());
  }

  @Test
  void waitersThatHaveGoneAreSkipped() {
    LockHold hold = lock.acquire(WAIT).orElseThrow();
    List<OwnerLock.Waiter> dead = new ArrayList<>();
    for (int i = 0; i < Waiting.LIMIT - 1; i++) {
      dead.add(
          new OwnerLock.Waiter() {
            @Override
            public void granted(LockHold granted) {
              granted.close(); // as ClientHold does after its call's end
            }

            @Override
            public void refused(StatusRuntimeException reason) {}
          });
      lock.enter(dead.get(i), true);
    }
    Noted last = new Noted();
    lock.enter(last, true);
    hold.close();
    assertNotNull(last.hold);
  }
}
