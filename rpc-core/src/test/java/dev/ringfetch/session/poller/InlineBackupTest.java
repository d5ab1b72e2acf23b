package dev.ringfetch.session.poller;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Kind;
import dev.ringfetch.counters.Tally;
import dev.ringfetch.fabric.HeapDoorbell;
import dev.ringfetch.session.Session;
import dev.ringfetch.session.SessionAccess;
import dev.ringfetch.session.SessionContext;
import dev.ringfetch.session.SessionSteps;
import dev.ringfetch.session.SessionSteps.Sizes;
import dev.ringfetch.system.Await;
import java.lang.Thread.State;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests of a poller's backup thread: when it exists, looks, rests and takes over. It asks the clock
 * before each look, and a test has it wait there.
 */
@Timeout(60)
class InlineBackupTest {
  private static final int LEAST = 4;
  private static final long TIMEOUT_S = 30;

  private final AtomicLong nowNs = new AtomicLong(-3);
  private final Thread first = Thread.currentThread();
  private final Poller poller =
      new Poller(
          new ParkedDoorbell(),
          new SessionContext().clock(this::clock).spinNs(0).inlinePerMs(LEAST));
  private final Session session = new SessionSteps(Sizes.ROOMY).server;
  private final List<String> done = Collections.synchronizedList(new ArrayList<>());
  private final CountDownLatch overran = new CountDownLatch(1);
  private final AtomicInteger looks = new AtomicInteger();

  private volatile Thread standby; // the last backup thread
  private volatile Runnable onLook = () -> {};

  /** Says what became of it. */
  private class Task extends NamedTask {
    Task(String name) {
      super(name, done);
    }

    @Override
    public void overran(boolean waits) {
      done.add(name + " overran");
      overran.countDown();
    }
  }

  /** Keeps its thread until that has lost the poller's lease. */
  private class TooLong extends Task {
    TooLong(String name) {
      super(name);
    }

    @Override
    public void runInline() {
      nowNs.addAndGet(InlinePatience.PATIENCE_NS);
      Await.latch(overran);
    }
  }

  InlineBackupTest() {
    assertTrue(poller.begin());
  }

  @AfterEach
  void end() {
    onLook = () -> nowNs.addAndGet(InlinePatience.WINDOW_NS); // in which nothing happens: it rests
    poller.close();
  }

  private long clock() {
    if (Thread.currentThread() != first && !poller.isCurrentThread()) {
      standby = Thread.currentThread();
      looks.incrementAndGet();
      onLook.run();
    }
    return nowNs.get();
  }

  /** Not parked for good, so that it is not taken for one that rests. */
  private static void stay(CountDownLatch until) {
    while (until.getCount() > 0) {
      LockSupport.parkNanos(100_000);
    }
  }

  /** Offers as many as it takes for the next one to be taken in. */
  private void warmUp() {
    for (int i = 1; i < LEAST; i++) {
      assertFalse(poller.offer(SessionAccess.entry(session), new Task("refused")));
    }
  }

  private Thread awaitStandby() {
    Thread found;
    while ((found = standby) == null) {
      Thread.onSpinWait();
    }
    return found;
  }

  /**
   * Windows pass in which nothing happens. One that was woken a moment ago may still wait for a
   * processor, in the state of one that rests: in no time at all nobody comes to rest.
   */
  private void letItRest() {
    final Thread thread = awaitStandby();
    final int before = looks.get();
    while (looks.get() == before || thread.getState() != State.WAITING) {
      nowNs.addAndGet(InlinePatience.WINDOW_NS);
      Thread.onSpinWait();
    }
  }

  /** Comes back as the first thread does when it has lost the lease, and finds no backup. */
  private void comeBack() {
    looks.set(0);
    standby = null;
    final Thread back = new Thread(poller.threads()::standBy, "back");
    back.start();
    while (back.getState() != State.WAITING) {
      assertTrue(looks.get() <= 1, "it looks without being asked to");
      Thread.onSpinWait();
    }
    assertSame(back, standby);
  }

  /** Makes the first thread lose the lease to the backup thread. */
  private void loseDuty() throws Exception {
    warmUp();
    assertTrue(poller.offer(SessionAccess.entry(session), new TooLong("long")));
    assertEquals(Poller.LOST, poller.doWork());
    assertEquals(List.of("long overran"), done);
  }

  /** The results on the thread that drives the poller. */
  private List<Boolean> offers(int times) throws Exception {
    final CompletableFuture<List<Boolean>> taken = new CompletableFuture<>();
    poller.change(
        () -> {
          final List<Boolean> answers = new ArrayList<>();
          for (int i = 0; i < times; i++) {
            answers.add(poller.offer(SessionAccess.entry(session), new Task("task")));
          }
          taken.complete(answers);
        });
    return taken.get(TIMEOUT_S, TimeUnit.SECONDS);
  }

  @Test
  void tasksAreTakenInAsLongAsSomebodyLooks() {
    final CountDownLatch over = new CountDownLatch(1);
    onLook = () -> stay(over);
    warmUp();
    assertTrue(poller.offer(SessionAccess.entry(session), new Task("fourth")));
    nowNs.addAndGet(2 * InlinePatience.WINDOW_NS);
    assertTrue(poller.offer(SessionAccess.entry(session), new Task("only one")));
    over.countDown();
  }

  @Test
  void whoRestsIsWokenWhenItIsWorthALook() throws Exception {
    warmUp();
    assertTrue(poller.offer(SessionAccess.entry(session), new Task("task")));
    assertEquals(1, poller.doWork());
    letItRest();
    done.clear();
    loseDuty();
  }

  /**
   * The backup thread looks once more before it rests, as the thread that grants the lease may
   * still have seen it looking.
   */
  @Test
  void dutyIsNotLentWithNobodyLooking() throws Exception {
    final CountDownLatch looking = new CountDownLatch(1);
    final CountDownLatch lent = new CountDownLatch(1);
    onLook =
        () -> {
          if (looks.get() == 3) { // whichever came first, its start or the wake-up
            nowNs.addAndGet(InlinePatience.WINDOW_NS);
            looking.countDown();
            stay(lent);
          }
        };
    warmUp();
    assertTrue(
        poller.offer(
            SessionAccess.entry(session),
            new Task("long") {
              @Override
              public void runInline() {
                lent.countDown();
                while (true) {
                  final State state = standby.getState();
                  if (overran.getCount() == 0) {
                    return;
                  }
                  assertNotEquals(State.WAITING, state, "it rests");
                  nowNs.addAndGet(InlinePatience.PATIENCE_NS / 4);
                }
              }
            }));
    Await.latch(looking);
    assertEquals(Poller.LOST, poller.doWork());
    assertEquals(List.of("long overran"), done);
  }

  @Test
  void nobodyIsAskedToStandHereForAWhileAfterATakeover() throws Exception {
    loseDuty();
    assertEquals(Collections.nCopies(LEAST, false), offers(LEAST));
    nowNs.addAndGet(BackupThread.START_PAUSE_NS - 1);
    assertEquals(Collections.nCopies(LEAST, false), offers(LEAST));
    nowNs.addAndGet(1);
    assertEquals(List.of(true), offers(1));
  }

  @Test
  void whoHasComeBackIsAskedAtOnce() throws Exception {
    loseDuty();
    comeBack();
    nowNs.addAndGet(InlinePatience.WINDOW_NS);
    assertEquals(List.of(false, false, false, true), offers(LEAST));
  }

  /** Else it might keep them up, and nobody would take over. */
  @Test
  void whatIsLeftInLineAfterATakeoverThatFailedIsHandedOver() throws Exception {
    warmUp();
    assertTrue(
        poller.offer(
            SessionAccess.entry(session),
            new TooLong("long") {
              @Override
              public void overran(boolean waits) {
                super.overran(waits);
                throw new AssertionError("intended: it is reported, and harms nobody");
              }
            }));
    assertTrue(poller.offer(SessionAccess.entry(session), new Task("behind")));
    assertEquals(Poller.LOST, poller.doWork());
    while (done.size() < 2) { // what is left is handed over after the next round
      final List<Boolean> unused = offers(1);
    }
    assertEquals(List.of("long overran", "behind handed over"), done);
  }

  /** The one that was too long has just ended; the next one only loses the lease for it. */
  @Test
  void taskThatHasOnlyJustBegunIsNotBlamed() throws Exception {
    final CountDownLatch decided = new CountDownLatch(1);
    final CountDownLatch begun = new CountDownLatch(1);
    final AtomicInteger lost = new AtomicInteger();
    final Poller run =
        new Poller(
            new ParkedDoorbell(), new SessionContext().clock(nowNs::get).spinNs(0).inlinePerMs(1));
    final Thread lender =
        new Thread("lender") {
          @Override
          public State getState() { // called by the thread that is about to take over
            decided.countDown();
            Await.latch(begun);
            return State.RUNNABLE;
          }

          @Override
          public void run() {
            try {
              assertTrue(run.begin());
              assertTrue(
                  run.offer(
                      SessionAccess.entry(session),
                      new Task("long") {
                        @Override
                        public void runInline() {
                          nowNs.addAndGet(InlinePatience.PATIENCE_NS);
                          Await.latch(decided);
                        }
                      }));
              assertTrue(
                  run.offer(
                      SessionAccess.entry(session),
                      new Task("next") {
                        @Override
                        public void runInline() {
                          begun.countDown();
                          while (run.tally().get(Counter.POLLER_TAKEOVERS) == 0) {
                            Thread.onSpinWait();
                          }
                        }
                      }));
              assertEquals(1, run.doWork());
              lost.set(run.doWork());
            } catch (Throwable t) {
              done.add(t.toString());
            }
          }
        };
    lender.start();
    lender.join(TimeUnit.SECONDS.toMillis(TIMEOUT_S));
    assertEquals(Poller.LOST, lost.get());
    final CountDownLatch served = new CountDownLatch(1);
    run.execute(served::countDown);
    Await.latch(served);
    assertEquals(List.of(), done);
    run.close();
  }

  @Test
  void whoLendsWakesWhoRests() throws Exception {
    final Poller unused = new Poller(new HeapDoorbell(), new SessionContext());
    final OwnerToken driver = new OwnerToken();
    assertTrue(driver.tryAcquire());
    final BackupThread place =
        new InlineTasks(
                new PollerParts(
                    unused.threads(),
                    driver,
                    new PollerLease(driver),
                    this::clock,
                    new Tally(Kind.POLLER)),
                SessionContext.INLINE_PER_MS_DEFAULT)
            .backup();
    place.wake(); // late, when nobody is here any more
    assertFalse(place.looks());
    final Thread thread = new Thread(place::await);
    thread.start();
    awaitStandby();
    letItRest();
    assertFalse(place.looks());
    looks.set(0);
    place.wake();
    assertTrue(place.looks());
    while (looks.get() == 0) {
      Thread.onSpinWait();
    }
    unused.close();
    unused.run();
    thread.join(TimeUnit.SECONDS.toMillis(TIMEOUT_S));
    assertFalse(thread.isAlive());
  }
}
