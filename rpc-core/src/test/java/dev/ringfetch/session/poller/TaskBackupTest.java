package dev.ringfetch.session.poller;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.session.Session;
import dev.ringfetch.session.SessionAccess;
import dev.ringfetch.session.SessionContext;
import dev.ringfetch.session.SessionSteps;
import dev.ringfetch.session.SessionSteps.Sizes;
import dev.ringfetch.system.Await;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A task keeps its poller's thread: another one serves meanwhile. */
@Timeout(60)
class TaskBackupTest {
  private static final long TIMEOUT_S = 30;

  private final Poller poller =
      new Poller(new ParkedDoorbell(), new SessionContext().spinNs(0).inlinePerMs(1));
  private final Thread first = new Thread(poller, "poller");
  private final Set<Thread> threads = ConcurrentHashMap.newKeySet(); // that have run something
  private final CountDownLatch over = new CountDownLatch(1);

  TaskBackupTest() {
    first.setDaemon(true);
    first.start();
  }

  @AfterEach
  void end() throws InterruptedException {
    over.countDown();
    poller.close();
    poller.awaitEnd(TimeUnit.SECONDS.toNanos(TIMEOUT_S));
  }

  /** A task that waits until this one is over. */
  private void hold(CountDownLatch until) {
    final CountDownLatch begun = new CountDownLatch(1);
    poller.execute(
        () -> {
          threads.add(Thread.currentThread());
          begun.countDown();
          Await.latch(until);
        });
    Await.latch(begun);
  }

  private Thread runs() throws Exception {
    final CompletableFuture<Thread> thread = new CompletableFuture<>();
    poller.execute(() -> thread.complete(Thread.currentThread()));
    return thread.get(TIMEOUT_S, TimeUnit.SECONDS);
  }

  @Test
  void nextTaskRunsThoughOneWaits() throws Exception {
    hold(over);
    assertNotSame(first, runs());
  }

  /** As a session is added that a task waits for, or a deadline passes. */
  @Test
  void pollerServesThoughATaskWaits() {
    hold(over);
    final CountDownLatch changed = new CountDownLatch(1);
    poller.change(changed::countDown);
    Await.latch(changed);
    assertEquals(1, poller.tally().get(Counter.POLLER_TAKEOVERS));
  }

  /** It may only have been kept from its processor, which another thread would not give it. */
  @Test
  void whoDoesNotWaitIsGivenLonger() throws Exception {
    final CountDownLatch begun = new CountDownLatch(1);
    final AtomicBoolean relieved = new AtomicBoolean();
    final long startNs = System.nanoTime();
    poller.execute(
        () -> {
          begun.countDown();
          while (!relieved.get()) {
            Thread.onSpinWait();
          }
        });
    Await.latch(begun);
    assertNotSame(first, runs());
    final long tookNs = System.nanoTime() - startNs;
    relieved.set(true);
    assertTrue(tookNs >= TaskPatience.BUSY_LOOKS * TaskPatience.PAUSE_NS, () -> tookNs + " ns");
  }

  /** Sessions have their turn in between. */
  @Test
  void manyTasksAreRunInSeveralRounds() throws Exception {
    final Poller stepped = new Poller(new ParkedDoorbell(), new SessionContext());
    assertTrue(stepped.begin());
    final AtomicInteger ran = new AtomicInteger();
    for (int i = 0; i < 30; i++) {
      stepped.execute(
          () -> {
            LockSupport.parkNanos(1_000_000);
            ran.incrementAndGet();
          });
    }
    int rounds = 0;
    while (ran.get() < 30) {
      assertTrue(stepped.doWork() > 0);
      rounds++;
    }
    assertTrue(rounds > 2, () -> ran.toString());
    stepped.close();
  }

  /** Not even one after the other, in one lease; but sessions have their turn in between. */
  @Test
  void tasksThatWaitForAMomentAreNotRelieved() throws Exception {
    final int loans = 20;
    final int tasks = 8;
    final AtomicInteger late = new AtomicInteger(); // tasks whose moment was a long one
    int turns = 0;
    for (int i = 0; i < loans; i++) {
      final CountDownLatch ran = new CountDownLatch(tasks);
      final AtomicInteger before = new AtomicInteger(tasks); // that turn
      for (int j = 0; j < tasks; j++) {
        final boolean first = j == 0;
        poller.execute(
            () -> {
              if (first) {
                poller.change(() -> before.set(tasks - (int) ran.getCount()));
              }
              final long beginNs = System.nanoTime();
              LockSupport.parkNanos(4_000_000);
              if (System.nanoTime() - beginNs > TaskPatience.PAUSE_NS / 2) {
                late.incrementAndGet();
              }
              ran.countDown();
            });
      }
      Await.latch(ran);
      turns += before.get() < tasks ? 1 : 0;
    }
    final long takeovers = poller.tally().get(Counter.POLLER_TAKEOVERS);
    assertTrue(
        takeovers < loans / 4 + late.get(), () -> takeovers + ": where the machine stood still");
    final int had = turns + late.get();
    assertTrue(had > loans / 2, () -> had + " of " + loans);
  }

  @Test
  void eachTaskThatWaitsIsRelieved() throws Exception {
    for (int i = 0; i < 5; i++) {
      hold(over);
    }
    runs();
    assertEquals(5, threads.size());
  }

  /** Or it drives the poller again at once, if the thread that took over is stuck by then. */
  @Test
  void whoComesBackRelievesInItsTurn() throws Exception {
    final int turns = 30;
    for (int i = 0; i < turns; i++) {
      final CountDownLatch next = new CountDownLatch(1);
      hold(next);
      runs();
      next.countDown();
    }
    assertTrue(threads.size() < turns, () -> threads.toString());
    assertTrue(poller.tally().get(Counter.POLLER_TAKEOVERS) > 0);
  }

  /** As in a simulation, whose steps are its own. */
  @Test
  void nobodyIsCalledWhereNoThreadRunsThePoller() throws Exception {
    final Poller stepped = new Poller(new ParkedDoorbell(), new SessionContext());
    assertTrue(stepped.begin());
    final Map<Thread, Boolean> ran = new ConcurrentHashMap<>(); // and whether as driver
    stepped.execute(() -> ran.put(Thread.currentThread(), stepped.isCurrentThread()));
    assertEquals(1, stepped.doWork());
    assertEquals(Map.of(Thread.currentThread(), false), ran);
    assertTrue(stepped.isCurrentThread());
    assertNull(stepped.threads().taskBackup());
    stepped.close();
  }

  /** With nothing to look after it does not wake. */
  @Test
  void whoRestsIsCalled() throws Exception {
    runs();
    Thread backup = null;
    while (backup == null || backup.getState() != Thread.State.WAITING) {
      if (backup == null) {
        runs(); // it may have become the poller, where the machine stood still
      }
      LockSupport.parkNanos(1_000_000);
      backup = poller.threads().taskBackup();
    }
    hold(over);
    assertEquals(backup, runs());
  }

  @Test
  void pollerEndsThoughATaskWaits() throws Exception {
    hold(over);
    poller.close();
    final CountDownLatch ended = new CountDownLatch(1);
    final Thread waiter =
        new Thread(
            () -> {
              try {
                poller.awaitEnd(TimeUnit.SECONDS.toNanos(TIMEOUT_S));
                ended.countDown();
              } catch (InterruptedException e) {
                throw new AssertionError(e);
              }
            });
    waiter.start();
    Await.latch(ended);
    assertTrue(first.isAlive(), "held up by its task");
    over.countDown();
    first.join();
  }

  @Test
  void taskMayEndItsPoller() throws Exception {
    final CompletableFuture<Boolean> returned = new CompletableFuture<>();
    poller.execute(
        () -> {
          poller.close();
          Thread.currentThread().interrupt(); // it would not wait
          try {
            poller.awaitEnd(TimeUnit.SECONDS.toNanos(TIMEOUT_S));
            returned.complete(Thread.interrupted());
          } catch (InterruptedException e) {
            returned.completeExceptionally(e);
          }
        });
    assertTrue(returned.get(TIMEOUT_S, TimeUnit.SECONDS));
  }

  /** Both grant one lease, and each has a backup thread of its own. */
  @Test
  void tasksAreRelievedBesideInlineTasks() throws Exception {
    final Session session = new SessionSteps(Sizes.ROOMY).server;
    final AtomicInteger overruns = new AtomicInteger();
    for (int i = 0; i < 100; i++) {
      poller.change(() -> poller.offer(SessionAccess.entry(session), new Quick(overruns)));
      final CountDownLatch ran = new CountDownLatch(1);
      poller.execute(
          () -> {
            LockSupport.parkNanos(500_000);
            ran.countDown();
          });
      Await.latch(ran);
    }
    final long early = poller.tally().get(Counter.POLLER_TAKEOVERS);
    assertTrue(early < 10, () -> early + ": half a millisecond is not long for a task");
    for (int i = 0; i < 10; i++) {
      final CountDownLatch next = new CountDownLatch(1);
      poller.change(() -> poller.offer(SessionAccess.entry(session), new Quick(overruns)));
      hold(next);
      poller.change(() -> poller.offer(SessionAccess.entry(session), new Quick(overruns)));
      runs();
      next.countDown();
    }
    assertEquals(0, overruns.get(), "tasks of others are not theirs");
  }

  private static final class Quick extends LinkedTask {
    private final AtomicInteger overruns;

    Quick(AtomicInteger overruns) {
      this.overruns = overruns;
    }

    @Override
    public void runInline() {}

    @Override
    public void handOver() {}

    @Override
    public void ranInline(long durationNs, long processorNs, int parts) {}

    @Override
    public void overran(boolean waits) {
      if (waits) { // it may have been slow: its thread was kept from running
        overruns.incrementAndGet();
      }
    }
  }
}
