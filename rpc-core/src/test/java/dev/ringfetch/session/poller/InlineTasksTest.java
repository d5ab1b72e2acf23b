package dev.ringfetch.session.poller;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.session.Session;
import dev.ringfetch.session.SessionAccess;
import dev.ringfetch.session.SessionContext;
import dev.ringfetch.session.SessionSteps;
import dev.ringfetch.session.SessionSteps.Sizes;
import dev.ringfetch.system.Await;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The tasks that a poller runs itself, under a clock that stands still unless it is moved. */
@Timeout(60)
class InlineTasksTest {
  private static final int LEAST = 4;
  private static final long TIMEOUT_S = 30;

  private final AtomicLong nowNs = new AtomicLong(-3);
  private final Poller poller =
      new Poller(
          new ParkedDoorbell(),
          new SessionContext().clock(nowNs::get).spinNs(0).inlinePerMs(LEAST));
  private final Session one = new SessionSteps(Sizes.ROOMY).server;
  private final Session other = new SessionSteps(Sizes.ROOMY).server;
  private final List<String> done = Collections.synchronizedList(new ArrayList<>());
  private final CountDownLatch takenOver = new CountDownLatch(1);

  /** Says what became of it. */
  private class Task extends NamedTask {
    Task(String name) {
      super(name, done);
    }

    @Override
    public void ranInline(long durationNs, long processorNs, int parts) {
      done.add(name + " took " + durationNs);
    }

    @Override
    public void overran(boolean waits) {
      done.add(name + (waits ? " waits" : " is slow"));
      takenOver.countDown();
    }
  }

  InlineTasksTest() {
    assertTrue(poller.begin());
  }

  @AfterEach
  void end() {
    poller.close();
    nowNs.addAndGet(InlinePatience.WINDOW_NS); // in which nothing happens: the backup thread rests
  }

  /** Offers as many as it takes for tasks to be taken in. */
  private void warmUp() {
    for (int i = 1; i < LEAST; i++) {
      assertFalse(poller.offer(SessionAccess.entry(one), new Task("refused")));
    }
  }

  @Test
  void tasksAreTakenInFromAsManyInAWindowAsAreWorthALook() throws IOException {
    for (int i = 0; i < 100; i++) {
      nowNs.addAndGet(InlinePatience.WINDOW_NS / (LEAST - 1) + 1);
      assertFalse(poller.offer(SessionAccess.entry(one), new Task("seldom")));
    }
    nowNs.addAndGet(InlinePatience.WINDOW_NS);
    warmUp();
    assertTrue(poller.offer(SessionAccess.entry(one), new Task("often")));
    assertEquals(List.of(), done, "it runs after the round");
    assertEquals(1, poller.doWork());
    assertEquals(List.of("often", "often took 0"), done);
    assertEquals(1, poller.tally().get(Counter.POLLER_CALLS_INLINE));
  }

  @Test
  void tasksAreRefusedWhereAnotherOneWaits() {
    warmUp();
    final boolean before = poller.beginNested();
    assertFalse(poller.offer(SessionAccess.entry(one), new Task("nested")));
    poller.endNested(before);
    assertTrue(poller.offer(SessionAccess.entry(one), new Task("taken")));
  }

  @Test
  void tasksAreRefusedByAPollerThatIsToEnd() {
    warmUp();
    poller.close();
    assertFalse(poller.offer(SessionAccess.entry(one), new Task("late")));
  }

  @Test
  void whatIsInLineWhenOneBeginsToWaitIsHandedOver() {
    warmUp();
    assertTrue(poller.offer(SessionAccess.entry(one), new Task("a")));
    poller.endNested(poller.beginNested());
    assertEquals(List.of("a handed over"), done);
    assertEquals(1, poller.tally().get(Counter.POLLER_CALLS_MOVED));
  }

  @Test
  void whatCannotBeHandedOverKeepsNoOther() {
    warmUp();
    final Thread thread = Thread.currentThread();
    final Thread.UncaughtExceptionHandler before = thread.getUncaughtExceptionHandler();
    thread.setUncaughtExceptionHandler((where, thrown) -> done.add(thrown.getMessage()));
    try {
      assertTrue(
          poller.offer(
              SessionAccess.entry(one),
              new Task("a") {
                @Override
                public void handOver() {
                  throw new OutOfMemoryError("no place");
                }
              }));
      assertTrue(poller.offer(SessionAccess.entry(other), new Task("b")));
      assertTrue(poller.offer(SessionAccess.entry(one), new Task("c")));
      poller.endNested(poller.beginNested());
    } finally {
      thread.setUncaughtExceptionHandler(before);
    }
    assertEquals(List.of("no place", "b handed over", "c handed over"), done);
    assertEquals(3, poller.tally().get(Counter.POLLER_CALLS_MOVED));
  }

  @Test
  void sessionsTakeTurns() throws IOException {
    warmUp();
    for (int i = 0; i < 3; i++) {
      assertTrue(poller.offer(SessionAccess.entry(one), new Task("one" + i)));
    }
    assertTrue(poller.offer(SessionAccess.entry(other), new Task("other0")));
    assertEquals(4, poller.doWork());
    done.removeIf(line -> line.contains("took"));
    assertEquals(List.of("one0", "other0", "one1", "one2"), done);
  }

  @Test
  void sessionsAreLookedAfterBetweenManyTasks() throws IOException {
    warmUp();
    for (int i = 0; i < 8; i++) {
      assertTrue(
          poller.offer(
              SessionAccess.entry(one),
              new Task("task" + i) {
                @Override
                public void runInline() {
                  nowNs.addAndGet(25_000);
                }
              }));
    }
    for (int i = 0; i < 4; i++) {
      assertEquals(2, poller.doWork());
    }
    assertEquals(8, done.size());
    assertEquals("task7 took 25000", done.get(7));
  }

  @Test
  void taskOwnsNothing() throws IOException {
    warmUp();
    assertTrue(
        poller.offer(
            SessionAccess.entry(one),
            new Task("task") {
              @Override
              public void runInline() {
                assertFalse(poller.isCurrentThread());
                assertFalse(poller.offer(SessionAccess.entry(one), new Task("within")));
                Thread.currentThread().interrupt();
                super.runInline();
                throw new AssertionError("intended: it is reported, and harms nobody");
              }
            }));
    Thread.currentThread().setUncaughtExceptionHandler((thread, thrown) -> done.add("reported"));
    try {
      assertEquals(1, poller.doWork());
    } finally {
      Thread.currentThread().setUncaughtExceptionHandler(null);
    }
    assertEquals(List.of("task", "reported", "task took 0"), done);
    assertTrue(poller.isCurrentThread());
    assertFalse(Thread.interrupted(), "that was the task's");
  }

  @Test
  void taskThatCannotBeMeasuredTakesNothingFromThePoller() throws IOException {
    warmUp();
    assertTrue(
        poller.offer(
            SessionAccess.entry(one),
            new Task("task") {
              @Override
              public boolean isDoubtful() {
                throw new NoClassDefFoundError("intended: there is no such clock");
              }
            }));
    assertTrue(poller.offer(SessionAccess.entry(other), new Task("behind")));
    Thread.currentThread().setUncaughtExceptionHandler((thread, thrown) -> done.add("reported"));
    try {
      assertEquals(2, poller.doWork());
    } finally {
      Thread.currentThread().setUncaughtExceptionHandler(null);
    }
    assertEquals(List.of("reported", "task took 0", "behind", "behind took 0"), done);
    assertTrue(poller.isCurrentThread());
  }

  @Test
  void taskThatHasRunIsNotKept() throws Exception {
    warmUp();
    final WeakReference<Task> ran = offered(new Task("short"));
    assertEquals(1, poller.doWork());
    awaitCleared(ran);
    final WeakReference<Task> lost =
        offered(
            new Task("long") {
              @Override
              public void runInline() {
                moveClockWhenIWait();
                Await.latch(takenOver);
              }
            });
    assertEquals(Poller.LOST, poller.doWork());
    awaitCleared(lost);
  }

  @Test
  void sessionWhoseTaskHasRunIsNotKept() throws Exception {
    warmUp();
    awaitCleared(servedOnce());
  }

  private WeakReference<Session> servedOnce() throws IOException {
    final Session session = new SessionSteps(Sizes.ROOMY).server;
    assertTrue(poller.offer(SessionAccess.entry(session), new Task("only")));
    assertEquals(1, poller.doWork());
    return new WeakReference<>(session);
  }

  private WeakReference<Task> offered(Task task) {
    assertTrue(poller.offer(SessionAccess.entry(one), task));
    return new WeakReference<>(task);
  }

  private static void awaitCleared(WeakReference<?> reference) throws InterruptedException {
    final long startNs = System.nanoTime();
    while (reference.get() != null) {
      assertTrue(System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(TIMEOUT_S), "is kept");
      System.gc();
      Thread.sleep(1);
    }
  }

  /**
   * Time passes while the task waits: another thread takes over the poller, and the waiting tasks.
   */
  @Test
  void dutyIsTakenFromWhoKeepsIt() throws Exception {
    warmUp();
    assertTrue(
        poller.offer(
            SessionAccess.entry(one),
            new Task("long") {
              @Override
              public void runInline() {
                moveClockWhenIWait();
                Await.latch(takenOver);
                super.runInline();
              }
            }));
    assertTrue(poller.offer(SessionAccess.entry(other), new Task("behind")));
    assertEquals(Poller.LOST, poller.doWork());
    assertEquals("long waits", done.get(0));
    assertFalse(done.contains("long took " + InlinePatience.PATIENCE_NS), "told already");
    assertFalse(poller.isCurrentThread());
    assertFalse(poller.offer(SessionAccess.entry(one), new Task("late")));
    assertEquals(1, poller.tally().get(Counter.POLLER_TAKEOVERS));
    final CountDownLatch served = new CountDownLatch(1);
    poller.execute(served::countDown);
    assertTrue(served.await(TIMEOUT_S, TimeUnit.SECONDS), "by the thread that has the duty");
    assertTrue(done.contains("behind handed over"), () -> done.toString());
  }

  /** While the one that has overtaken it runs a task itself, with a third one standing by. */
  @Test
  void overtakenThreadMayHaveTheDutyBack() throws Exception {
    final CountDownLatch lent = new CountDownLatch(1);
    final CountDownLatch back = new CountDownLatch(1);
    final Task second =
        new Task("second") {
          @Override
          public void runInline() {
            lent.countDown();
            Await.latch(back);
            super.runInline();
          }
        };
    warmUp();
    assertTrue(
        poller.offer(
            SessionAccess.entry(one),
            new Task("first") {
              @Override
              public void runInline() {
                moveClockWhenIWait();
                Await.latch(takenOver);
                nowNs.addAndGet(BackupThread.START_PAUSE_NS);
                poller.change(
                    () -> {
                      warmUp();
                      assertTrue(poller.offer(SessionAccess.entry(other), second));
                    });
                Await.latch(lent);
              }
            }));
    assertEquals(1, poller.doWork());
    assertTrue(poller.isCurrentThread());
    back.countDown();
    while (!done.contains("second")) {
      Thread.onSpinWait();
    }
    assertTrue(poller.offer(SessionAccess.entry(one), new Task("third")));
    assertEquals(1, poller.doWork());
    assertTrue(poller.isCurrentThread(), "nobody else takes what is in good hands");
    assertTrue(done.contains("third"), () -> done.toString());
    assertEquals(1, poller.tally().get(Counter.POLLER_TAKEOVERS));
  }

  private void moveClockWhenIWait() {
    final Thread waits = Thread.currentThread();
    final Thread mover =
        new Thread(
            () -> {
              while (waits.getState() == Thread.State.RUNNABLE) {
                Thread.onSpinWait();
              }
              nowNs.addAndGet(InlinePatience.PATIENCE_NS);
            });
    mover.start();
  }

  /**
   * A thread that comes back becomes the backup thread, and takes over in its turn: two threads are
   * enough. At times it has just gone to rest, or is about to.
   */
  @Test
  void threadsTakeTheDutyFromEachOther() throws Exception {
    final int turns = 100;
    final long seed = Long.getLong("ringfetch.seed", 1);
    System.out.println("seed " + seed);
    final Random random = new Random(seed);
    final Poller run =
        new Poller(new ParkedDoorbell(), new SessionContext().spinNs(0).inlinePerMs(2));
    final Thread first = new Thread(run, "poller");
    first.start();
    for (int turn = 1; turn <= turns; turn++) {
      final CountDownLatch ran = new CountDownLatch(1);
      spin(random.nextInt(3_000_000));
      while (!offer(
          run,
          one,
          new Task("long") {
            @Override
            public void runInline() {
              final CountDownLatch served = new CountDownLatch(1); // by another thread
              run.execute(served::countDown);
              while (served.getCount() > 0) {
                Thread.onSpinWait();
              }
              done.add(Thread.currentThread().getName());
              ran.countDown();
            }
          })) {
        Thread.onSpinWait();
      }
      assertTrue(ran.await(TIMEOUT_S, TimeUnit.SECONDS));
    }
    run.close();
    run.awaitEnd(TimeUnit.SECONDS.toNanos(TIMEOUT_S));
    done.removeIf(line -> !line.startsWith("poller"));
    assertEquals(turns, done.size());
    assertTrue(run.tally().get(Counter.POLLER_TAKEOVERS) > 0);
    assertTrue(done.contains("poller"), () -> done.toString());
    assertTrue(done.stream().distinct().count() < turns, () -> done.toString());
  }

  private static void spin(long durationNs) {
    final long start = System.nanoTime();
    while (System.nanoTime() - start < durationNs) {
      Thread.onSpinWait();
    }
  }

  private static boolean offer(Poller poller, Session session, InlineTask task) throws Exception {
    final CompletableFuture<Boolean> taken = new CompletableFuture<>();
    poller.change(() -> taken.complete(poller.offer(SessionAccess.entry(session), task)));
    return taken.get(TIMEOUT_S, TimeUnit.SECONDS);
  }
}
