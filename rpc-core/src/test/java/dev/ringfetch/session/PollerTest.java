package dev.ringfetch.session;

import static dev.ringfetch.session.SessionSteps.bytes;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.Doorbell;
import dev.ringfetch.fabric.HeapDoorbell;
import dev.ringfetch.fabric.HeapFabric;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.session.SessionSteps.Call;
import dev.ringfetch.session.SessionSteps.Sizes;
import dev.ringfetch.session.poller.Poller;
import dev.ringfetch.session.poller.PollerSteps;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** When a poller sleeps, what wakes it, and for how long it looks at a session in vain. */
@Timeout(60)
class PollerTest {
  private static final long SPIN_NS = 50_000;
  private static final long DOORBELL_INTERVAL_NS = 20_000;

  private final SessionSteps steps = new SessionSteps(Sizes.ROOMY, SPIN_NS);
  private final Poller poller = steps.clientPoller;
  private final HeapDoorbell doorbell = steps.fabric.clientDoorbell();
  private final List<String> done = new ArrayList<>();

  private void comeToRest() {
    for (int i = 0; i < 3; i++) {
      steps.advance(SPIN_NS);
      steps.settle();
    }
    assertTrue(PollerSteps.isIdle(poller));
  }

  /** What is asked of a poller that is awake is found by it; one that sleeps is woken. */
  private void assertWakesASleeperOnly(Runnable asks) throws IOException {
    int wakeups = doorbell.wakeups();
    asks.run();
    assertEquals(wakeups, doorbell.wakeups(), "awake");
    poller.doWork();
    comeToRest();
    PollerSteps.beginSleep(poller, true);
    asks.run();
    assertEquals(wakeups + 1, doorbell.wakeups(), "asleep");
    PollerSteps.endSleep(poller);
    assertEquals(PollerSteps.AWAKE, PollerSteps.beginSleep(poller, true), "there is work");
    PollerSteps.endSleep(poller);
    poller.doWork();
    comeToRest();
    assertEquals(Doorbell.FOREVER, PollerSteps.beginSleep(poller, true));
    PollerSteps.endSleep(poller);
  }

  @Test
  void taskWakesASleeper() throws IOException {
    assertWakesASleeperOnly(() -> poller.execute(() -> done.add("task")));
    assertEquals(List.of("task", "task"), done);
  }

  @Test
  void sessionThatComesOrGoesWakesASleeper() throws IOException {
    assertWakesASleeperOnly(() -> poller.remove(steps.client.entry));
  }

  @Test
  void sessionThatIsToBePolledWakesASleeper() throws IOException {
    assertWakesASleeperOnly(() -> poller.activateLater(steps.client.entry));
  }

  @Test
  void alarmWakesASleeper() throws IOException {
    assertWakesASleeperOnly(poller::alarm);
    assertFalse(steps.client.hasEnded(), "nothing was wrong with it");
  }

  /** Whichever was left in the midst of something; also within a task that waits. */
  @Test
  void alarmedPollerLooksAfterItsSessions() throws IOException {
    Call call = steps.send(bytes(8, 1));
    comeToRest();
    assertTrue(steps.client.driver.tryAcquire());
    poller.alarm();
    poller.serveNested();
    assertEquals("session failed: no memory to serve it in", steps.client.endReason());
    poller.doWork();
    assertTrue(call.isOver());
  }

  @Test
  void nestedSleepLeavesTasksForLater() throws IOException {
    comeToRest();
    poller.execute(() -> done.add("task"));
    assertEquals(Doorbell.FOREVER, PollerSteps.beginSleep(poller, false));
    PollerSteps.endSleep(poller);
    poller.serveNested();
    assertEquals(List.of(), done);
    poller.doWork();
    assertEquals(List.of("task"), done);
  }

  @Test
  void nestedWaitSleepsOnlyWhenNoSessionIsBusy() throws IOException {
    comeToRest();
    int awaits = doorbell.awaits();
    poller.activate(steps.client.entry);
    poller.serveNested();
    assertEquals(awaits, doorbell.awaits());
    steps.advance(SPIN_NS);
    poller.serveNested();
    poller.serveNested();
    assertEquals(awaits + 1, doorbell.awaits());
  }

  @Test
  void sleepEndsWithTheEarliestDeadline() throws IOException {
    SessionSteps other = new SessionSteps(Sizes.ROOMY);
    poller.add(other.client.entry); // without one
    poller.doWork();
    steps.send(bytes(8, 1), 10 * SPIN_NS);
    long sentNs = steps.nowNs();
    comeToRest();
    assertEquals(sentNs + 10 * SPIN_NS - steps.nowNs(), PollerSteps.beginSleep(poller, true));
    PollerSteps.endSleep(poller);
  }

  @Test
  void pollerThatIsToEndDoesNotSleep() throws IOException {
    comeToRest();
    int awaits = doorbell.awaits();
    poller.close();
    poller.serveNested();
    assertEquals(awaits, doorbell.awaits());
  }

  @Test
  void pollerWithoutWorkSleeps() {
    class Sleep implements Doorbell {
      private Poller sleeper;

      @Override
      public int poll() {
        return 0;
      }

      @Override
      public int await(long timeoutNs) {
        assertEquals(FOREVER, timeoutNs);
        sleeper.close();
        return 0;
      }

      @Override
      public void wakeup() {
        done.add("woken");
      }

      @Override
      public void close() {
        done.add("closed");
      }
    }

    Sleep sleep = new Sleep();
    sleep.sleeper = new Poller(sleep, new SessionContext());
    sleep.sleeper.run(); // ends because it slept
    assertEquals(List.of("woken", "closed"), done);
  }

  /** It has nothing to leave behind: a call beside it costs what it costs alone. */
  @Test
  void sessionBesideIdleOnesIsNotVerifiedTwice() throws IOException {
    int[] verified = {0};
    DirectRegion region =
        new DirectRegion(
            ArenaDescriptor.length(Sizes.ROOMY.ringLength(), Sizes.ROOMY.ringLength())) {
          @Override
          public void verify() {
            verified[0]++;
          }
        };
    SessionSteps beside = new SessionSteps(Sizes.ROOMY, region);
    beside.serverPoller.add(counting(beside.serverPoller).entry);
    beside.settle();
    beside.serverPoller.activate(beside.server.entry);
    beside.serverPoller.doWork(); // looks at the doorbell
    beside.send(bytes(8, 1));
    beside.serverPoller.activate(beside.server.entry);
    verified[0] = 0;
    beside.serverPoller.doWork();
    assertEquals(1, beside.requests.size());
    assertEquals(1, verified[0]);
  }

  /** What one session has left behind in the thread must not come up in the next one's frames. */
  @Test
  void ofSeveralSessionsEachIsVerifiedBeforeItIsTouched() throws IOException {
    List<Long> positions = new ArrayList<>();
    SessionSteps[] watched = new SessionSteps[1];
    DirectRegion region =
        new DirectRegion(
            ArenaDescriptor.length(Sizes.ROOMY.ringLength(), Sizes.ROOMY.ringLength())) {
          @Override
          public void verify() {
            if (watched[0] != null) {
              positions.add(watched[0].server.pollPosition());
            }
          }
        };
    SessionSteps shared = new SessionSteps(Sizes.ROOMY, region);
    CountingSession other = counting(shared.serverPoller);
    shared.serverPoller.add(other.entry);
    shared.settle();
    shared.send(bytes(8, 1));
    watched[0] = shared;
    long before = shared.server.pollPosition();
    shared.serverPoller.activate(other.entry);
    shared.serverPoller.activate(shared.server.entry);
    shared.serverPoller.doWork();
    assertEquals(before + 1, shared.server.pollPosition());
    assertEquals(before, positions.get(0));
  }

  /** An interrupt is for the callback that got it, or for a task that waits. */
  @Test
  void interruptKeepsNobodyAwake() {
    comeToRest();
    Thread.currentThread().interrupt();
    PollerSteps.beginSleep(poller, false);
    PollerSteps.endSleep(poller);
    assertTrue(Thread.currentThread().isInterrupted(), "the task's that waits");
    PollerSteps.beginSleep(poller, true);
    PollerSteps.endSleep(poller);
    assertFalse(Thread.interrupted());
  }

  @Test
  void sleeperIsNotWokenForWhatIsNotEarlier() {
    comeToRest();
    int wakeups = doorbell.wakeups();
    PollerSteps.beginSleep(poller, true);
    PollerSteps.wakeupBefore(poller, Stream.NO_DEADLINE);
    assertEquals(wakeups, doorbell.wakeups());
    PollerSteps.wakeupBefore(poller, Stream.NO_DEADLINE - 1);
    assertEquals(wakeups + 1, doorbell.wakeups());
    PollerSteps.endSleep(poller);
    PollerSteps.wakeupBefore(poller, Long.MIN_VALUE + 1);
    assertEquals(wakeups + 1, doorbell.wakeups(), "awake: it looks before it sleeps");
  }

  @Test
  void sessionIsPolledForAWhileAfterItsLastWork() throws IOException {
    Call call = steps.send(bytes(8, 1));
    comeToRest();
    steps.request().echo();
    doorbell.poll(); // rung awake
    assertTrue(poller.doWork() > 0);
    assertTrue(call.isOver());
    steps.advance(SPIN_NS - 1);
    poller.doWork();
    assertFalse(PollerSteps.isIdle(poller));
    steps.advance(1);
    assertTrue(poller.doWork() > 0, "it may have told something on its way");
    assertTrue(PollerSteps.isIdle(poller));
  }

  /** The sender cannot arm for it, does not poll itself, and the peer rings nobody. */
  @Test
  void answerThatIsThereBeforeTheSenderHasLeftIsPolledFor() throws IOException {
    Runnable[] afterFence = {null};
    SessionSteps[] quick = {null};
    DirectRegion region =
        new DirectRegion(
            ArenaDescriptor.length(Sizes.ROOMY.ringLength(), Sizes.ROOMY.ringLength())) {
          @Override
          public void fullFence() {
            super.fullFence();
            Runnable first = afterFence[0];
            afterFence[0] = null;
            if (first != null) {
              first.run();
            }
          }
        };
    quick[0] = new SessionSteps(Sizes.ROOMY, region);
    afterFence[0] =
        () -> {
          quick[0].server.driver.service(false);
          quick[0].request().echo();
        };
    Call call = quick[0].send(bytes(8, 1));
    assertFalse(call.isOver());
    assertFalse(quick[0].fabric.client().ringPending());
    quick[0].clientPoller.doWork();
    assertTrue(call.isOver());
  }

  /** The only call is answered as the poller arms for it; the poller does not come by again. */
  @Test
  void whatACallbackAsksForAsThePollerLeavesIsArmedFor() throws IOException {
    final Runnable[] afterFence = {null};
    final DirectRegion region =
        new DirectRegion(
            ArenaDescriptor.length(Sizes.ROOMY.ringLength(), Sizes.ROOMY.ringLength())) {
          @Override
          public void fullFence() {
            super.fullFence();
            final Runnable once = afterFence[0];
            afterFence[0] = null;
            if (once != null) {
              once.run();
            }
          }
        };
    final SessionSteps own = new SessionSteps(Sizes.ROOMY, region);
    final Call first = own.send(bytes(8, 1));
    own.server.driver.service(false);
    final Call[] next = {null};
    first.onClosed = () -> next[0] = own.send(bytes(8, 2));
    own.clientPoller.activate(own.client.entry);
    afterFence[0] = own.request()::echo;
    own.clientPoller.doWork(); // polls in vain, and spins for no time
    assertTrue(first.isOver());
    assertTrue(PollerSteps.isIdle(own.clientPoller));
    assertTrue(own.client.inbox.isArmed());
    own.server.driver.service(false);
    own.request().echo();
    own.stepClient();
    assertTrue(next[0].isOver());
  }

  /** The holder serves it, or the doorbell brings it back. */
  @Test
  void sessionThatAnotherThreadHoldsIsLeftToIt() throws IOException {
    steps.send(bytes(8, 1));
    poller.activate(steps.client.entry);
    assertTrue(steps.client.driver.tryAcquire());
    poller.doWork();
    assertTrue(PollerSteps.isIdle(poller));
    steps.client.driver.releaseAndTell();
    poller.doWork();
    assertFalse(PollerSteps.isIdle(poller), "it was missed");
    comeToRest();
    assertTrue(steps.client.driver.tryAcquire());
    steps.client.driver.releaseAndTell();
    poller.doWork();
    assertTrue(PollerSteps.isIdle(poller), "it was missed once");
  }

  private CountingSession counting(Poller itsPoller) {
    SessionContext context = new SessionContext().clock(steps::nowNs);
    return new CountingSession(new HeapFabric(CountingSession.MEMORY_LENGTH), itsPoller, context);
  }

  private CountingSession asking(Runnable whenAsked) throws IOException {
    SessionContext context = new SessionContext().clock(steps::nowNs);
    CountingSession session =
        new CountingSession(new HeapFabric(CountingSession.MEMORY_LENGTH), poller, context) {
          @Override
          long earliestDeadlineNs() {
            whenAsked.run();
            return super.earliestDeadlineNs();
          }
        };
    Stream stream = new TestStream(1);
    stream.deadlineNs = steps.nowNs() + 100 * SPIN_NS;
    session.deadlines.add(stream);
    poller.add(session.entry);
    poller.doWork();
    comeToRest();
    return session;
  }

  /** It sleeps for ever as far as others know, until it knows better itself. */
  @Test
  void deadlineThatComesWhileThePollerLooksForTheEarliestWakesIt() throws IOException {
    asking(() -> PollerSteps.wakeupBefore(poller, steps.nowNs()));
    int wakeups = doorbell.wakeups();
    PollerSteps.beginSleep(poller, true);
    assertEquals(wakeups + 1, doorbell.wakeups());
    PollerSteps.endSleep(poller);
  }

  @Test
  void sessionThatWasTakenOutIsForgotten() throws IOException {
    int[] asked = {0};
    CountingSession session = asking(() -> asked[0]++);
    int before = asked[0];
    PollerSteps.beginSleep(poller, true);
    PollerSteps.endSleep(poller);
    assertTrue(asked[0] > before, "it has a deadline");
    poller.remove(session.entry);
    poller.doWork();
    before = asked[0];
    assertEquals(Doorbell.FOREVER, PollerSteps.beginSleep(poller, true));
    PollerSteps.endSleep(poller);
    assertEquals(before, asked[0]);
    assertFalse(session.entry.publishDeadline(steps.nowNs()), "nobody listens");
  }

  @Test
  void doorbellIsLookedAtNowAndThenWhileSessionsAreBusy() throws IOException {
    comeToRest();
    poller.activate(steps.client.entry);
    poller.doWork(); // looks at it
    steps.fabric.server().ringDoorbell();
    assertTrue(steps.fabric.client().ringPending());
    steps.advance(DOORBELL_INTERVAL_NS - 1);
    poller.doWork();
    assertTrue(steps.fabric.client().ringPending(), "a system call for every round");
    steps.advance(1);
    poller.doWork();
    assertFalse(steps.fabric.client().ringPending());
  }

  /** Looks take a part of the time that does not grow with what one of them takes. */
  @Test
  void doorbellThatTakesLongToLookAtIsLookedAtLessOften() throws IOException {
    final long lookNs = 5_000;
    final int[] looks = {0};
    comeToRest();
    doorbell.inLook(
        () -> {
          looks[0]++;
          steps.advance(looks[0] == 14 ? 6 * lookNs : lookNs); // one is interrupted
        });
    poller.activate(steps.client.entry);
    for (int i = 0; i < 20; i++) {
      poller.activate(steps.client.entry);
      poller.doWork();
      steps.advance(DOORBELL_INTERVAL_NS);
    }
    final int before = looks[0];
    assertTrue(before < 14, "looks=" + before);
    for (int i = 0; i < 100; i++) {
      poller.activate(steps.client.entry);
      poller.doWork();
      steps.advance(DOORBELL_INTERVAL_NS);
    }
    final long expected = 100 * DOORBELL_INTERVAL_NS / (32 * lookNs);
    assertTrue(looks[0] - before >= expected - 1, "looks=" + (looks[0] - before));
    assertTrue(looks[0] - before <= expected + 2, "looks=" + (looks[0] - before));
  }

  /** Of those that sleep beside busy ones. */
  @Test
  void deadlinesAreLookedAtNowAndThenWhileSessionsAreBusy() throws IOException {
    int[] asked = {0};
    CountingSession session = asking(() -> asked[0]++);
    steps.advance(session.earliestDeadlineNs() - 1 - steps.nowNs());
    poller.activate(steps.client.entry);
    poller.doWork(); // looks at them
    int before = asked[0];
    steps.advance(DOORBELL_INTERVAL_NS - 1);
    poller.doWork();
    assertEquals(before, asked[0], "in every round");
    int rounds = session.rounds;
    steps.advance(1);
    poller.doWork();
    poller.doWork();
    assertEquals(rounds + 1, session.rounds);
  }

  /** Behind a card it may take long until a session may sleep: the poller does not wait for it. */
  @Test
  void sessionThatWaitsForLeaveToSleepKeepsNobodyAwakeForLong() throws IOException {
    boolean[] waits = {true};
    Poller alone = new Poller(new HeapDoorbell(), pollContext());
    alone.add(
        new CountingSession(
            new HeapFabric(CountingSession.MEMORY_LENGTH), alone, new SessionContext()) {
          @Override
          boolean retire() {
            entry.settling(waits[0]);
            return false;
          }
        }.entry);
    alone.doWork();
    steps.advance(2 * SPIN_NS - 1);
    alone.doWork();
    assertFalse(PollerSteps.isIdle(alone));
    steps.advance(1);
    alone.doWork();
    assertTrue(PollerSteps.isIdle(alone));
    waits[0] = false;
    alone.doWork();
    assertFalse(PollerSteps.isIdle(alone), "it has something to do");
  }

  private SessionContext pollContext() {
    return new SessionContext().clock(steps::nowNs).spinNs(SPIN_NS);
  }

  /** Part of a test. */
  @FunctionalInterface
  private interface Step {
    void take() throws IOException;
  }

  /** A poller with one session, for which something comes while the poller polls, or sleeps. */
  private final class Waits {
    final Poller waiter = new Poller(new HeapDoorbell(), pollContext());
    final CountingSession session =
        new CountingSession(
            new HeapFabric(CountingSession.MEMORY_LENGTH), waiter, new SessionContext()) {
          @Override
          void onOperations(Stream asking, int bits) {
            final Step callback = next;
            next = () -> {};
            notifications.add(() -> assertDoesNotThrow(callback::take));
          }
        };
    final Stream stream = new TestStream(1);
    Step next = () -> {}; // what the next thing that is found has done

    Waits() throws IOException {
      waiter.add(session.entry);
      waiter.doWork();
    }

    void find() throws IOException {
      waiter.doWork(); // in vain
      waiter.doWork();
      findMore();
    }

    void findMore() throws IOException {
      findMore(() -> assertTrue(waiter.doWork() > 0));
    }

    void findMore(Step round) throws IOException {
      session.driver.submit(stream, Stream.WRITE);
      waiter.activate(session.entry);
      round.take();
    }

    void sleep() throws IOException {
      sleep(waiter::doWork);
    }

    void sleep(Step round) throws IOException {
      steps.advance(SPIN_NS);
      round.take();
      assertTrue(PollerSteps.isIdle(waiter));
      waiter.serveNested();
    }

    /** What a whole wait of the least time comes to, after something was found. */
    boolean pollsForLong() throws IOException {
      steps.advance(PollerSteps.LEAST_NS);
      waiter.doWork();
      return !PollerSteps.isIdle(waiter);
    }
  }

  @Test
  void pollerThatMustBeWokenForWhatComesPollsForLessTime() throws IOException {
    Waits waits = new Waits();
    for (int i = 0; i < PollerSteps.MAX_BALANCE; i++) {
      assertTrue(waits.pollsForLong());
      waits.sleep();
      waits.find();
    }
    assertFalse(waits.pollsForLong());
  }

  @Test
  void pollerThatFindsSomethingInEveryOtherWaitPollsForLong() throws IOException {
    Waits waits = new Waits();
    for (int i = 0; i < 2 * PollerSteps.MAX_BALANCE; i++) {
      waits.sleep();
      waits.find();
      waits.find();
      assertTrue(waits.pollsForLong());
    }
  }

  @Test
  void burstThatTakesSeveralRoundsEndsOneWait() throws IOException {
    Waits waits = new Waits();
    for (int i = 0; i < PollerSteps.MAX_BALANCE; i++) {
      assertTrue(waits.pollsForLong());
      waits.sleep();
      waits.find();
      waits.findMore();
      waits.findMore();
    }
    assertFalse(waits.pollsForLong());
  }

  /** Its own waits do not hide the one that it has ended. */
  @Test
  void callbackThatWaitsWasFoundAllTheSame() throws IOException {
    Waits waits = new Waits();
    for (int i = 0; i < 2 * PollerSteps.MAX_BALANCE; i++) {
      waits.next =
          () -> {
            waits.sleep(waits.waiter::serveNested);
            waits.findMore(waits.waiter::serveNested);
          };
      waits.find();
      waits.findMore(); // the time of the last find is that before the callback
      assertTrue(waits.pollsForLong());
    }
  }

  @Test
  void sleepsOneAfterTheOtherAreOneWait() throws IOException {
    Waits waits = new Waits();
    for (int i = 0; i < 2 * PollerSteps.MAX_BALANCE; i++) {
      waits.sleep();
    }
    waits.find();
    assertTrue(waits.pollsForLong());
  }

  @Test
  void sessionIsInThePolledSetOnce() throws IOException {
    CountingSession session = counting(poller);
    poller.add(session.entry);
    poller.doWork();
    int rounds = session.rounds;
    poller.activate(session.entry);
    poller.activate(session.entry);
    poller.activateLater(session.entry);
    poller.doWork();
    assertEquals(rounds + 1, session.rounds);
  }

  @Test
  void pollerServesUntilItIsClosed() {
    poller.activate(steps.client.entry);
    int[] looks = {0};
    steps.onClock =
        () -> {
          if (++looks[0] == 10) {
            poller.close();
          }
        };
    int awaits = doorbell.awaits();
    poller.run();
    assertEquals(awaits, doorbell.awaits(), "it slept beside a busy session");
    assertTrue(looks[0] >= 10, () -> "looks=" + looks[0]);
    assertEquals(List.of("closed"), steps.clientEnds);
  }

  /** The set belongs to the poller's thread, which is not the one that removes. */
  @Test
  void sessionIsTakenOutByThePollerItself() throws IOException {
    poller.activate(steps.client.entry);
    poller.remove(steps.client.entry);
    assertFalse(PollerSteps.isIdle(poller));
    poller.doWork();
    assertTrue(PollerSteps.isIdle(poller));
  }

  /** Nobody else would do it. */
  @Test
  void whatIsAskedOfAPollerThatHasEndedIsDoneAtOnce() {
    poller.close();
    poller.run();
    assertEquals(List.of("closed"), steps.clientEnds);
    poller.execute(() -> done.add("task"));
    assertEquals(List.of("task"), done);
    SessionSteps other = new SessionSteps(Sizes.ROOMY);
    poller.activate(other.client.entry);
    poller.remove(other.client.entry);
    assertTrue(PollerSteps.isIdle(poller));
  }

  @Test
  void taskOfAPollerThatHasNotBegunWaits() {
    Poller idle = new Poller(new HeapDoorbell(), new SessionContext());
    idle.execute(() -> done.add("task"));
    assertEquals(List.of(), done);
    idle.close();
    idle.run();
    assertEquals(List.of("task"), done);
  }
}
