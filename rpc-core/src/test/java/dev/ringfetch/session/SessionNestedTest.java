package dev.ringfetch.session;

import static dev.ringfetch.session.SessionSteps.bytes;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.session.ClientStream.Outcome;
import dev.ringfetch.session.SessionSteps.Call;
import dev.ringfetch.session.SessionSteps.ServerCall;
import dev.ringfetch.session.SessionSteps.Sizes;
import dev.ringfetch.session.poller.PollerSteps;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A task in the poller's own thread waits for an answer, which nobody else would poll for. */
@Timeout(60)
class SessionNestedTest {
  private static final long FAR_NS = 1_000_000_000_000L;

  private final SessionSteps steps = new SessionSteps(Sizes.ROOMY);
  private final List<String> told = new ArrayList<>();
  private int looks;
  private boolean within;

  /** Runs tasks in the client's poller, whose thread this is; the last one closes it. */
  private void runInPoller(Runnable... tasks) {
    for (Runnable task : tasks) {
      steps.clientPoller.execute(task);
    }
    steps.clientPoller.execute(steps.clientPoller::close);
    steps.clientPoller.run();
  }

  /**
   * At some look of this thread at the clock the others do something, which may look at it as well.
   * The poller's backup thread looks, too, at moments of its own.
   */
  private void atLook(int when, Runnable happens) {
    final Thread own = Thread.currentThread();
    steps.onClock =
        () -> {
          if (Thread.currentThread() == own && !within && ++looks >= when) {
            within = true;
            happens.run();
            within = false;
          }
        };
  }

  private void serve() {
    steps.server.driver.service(false);
    steps.requests.forEach(ServerCall::echo);
    steps.requests.clear();
  }

  private Call call() {
    return steps.prepare(bytes(8, 1), FAR_NS); // a sleeper looks at the clock
  }

  @Test
  void taskIsAnsweredWhileItWaits() {
    Call call = call();
    atLook(5, this::serve);
    runInPoller(
        () -> {
          steps.client.sendAndPoll(call.stream);
          told.add("returned " + call.outcome);
        },
        () -> told.add("next task"));
    assertEquals(List.of("returned ANSWERED", "next task"), told);
  }

  /** The listener may release the stream much later: the wait is over all the same. */
  @Test
  void waitEndsThoughTheStreamIsStillInUse() {
    ClientStream stream = steps.client.open();
    stream.prepare(
        (ended, outcome) -> told.add("told " + outcome),
        SessionSteps.UNIT,
        5,
        steps.nowNs() + FAR_NS,
        100);
    atLook(5, this::serve);
    runInPoller(
        () -> {
          steps.client.sendAndPoll(stream);
          told.add("returned");
        });
    assertEquals(List.of("told ANSWERED", "returned"), told);
  }

  @Test
  void tasksDoNotRunInsideOfATaskThatWaits() {
    Call call = call();
    atLook(5, this::serve);
    runInPoller(
        () -> {
          steps.clientPoller.execute(() -> told.add("task"));
          steps.client.sendAndPoll(call.stream);
          told.add("returned " + call.outcome);
        },
        () -> told.add("next task"));
    assertEquals(List.of("returned ANSWERED", "next task", "task"), told);
  }

  @Test
  void callbackOfANestedCallWaitsForAnother() {
    Call inner = call();
    Call outer = call();
    outer.onClosed =
        () -> {
          steps.client.sendAndPoll(inner.stream);
          told.add("inner " + inner.outcome);
        };
    atLook(5, this::serve);
    runInPoller(
        () -> {
          steps.client.sendAndPoll(outer.stream);
          told.add("outer " + outer.outcome);
        });
    assertEquals(List.of("inner ANSWERED", "outer ANSWERED"), told);
  }

  @Test
  void interruptedTaskStopsWaiting() {
    Call call = call();
    atLook(5, () -> Thread.currentThread().interrupt());
    runInPoller(
        () -> {
          steps.client.sendAndPoll(call.stream);
          assertTrue(Thread.interrupted());
          told.add("returned " + call.outcome);
          steps.onClock = () -> {};
        });
    assertEquals(List.of("returned null"), told);
    assertEquals(Outcome.SESSION_ENDED, call.outcome, "the poller was closed");
  }

  @Test
  void waitEndsWithTheSession() {
    Call call = call();
    atLook(5, () -> steps.client.end("test"));
    runInPoller(() -> steps.client.sendAndPoll(call.stream));
    assertEquals(Outcome.SESSION_ENDED, call.outcome);
    assertEquals(List.of("test"), steps.clientEnds);
  }

  @Test
  void deadlineEndsTheWait() {
    Call call = steps.prepare(bytes(8, 1), 1000);
    atLook(5, () -> steps.advance(500));
    runInPoller(
        () -> {
          steps.client.sendAndPoll(call.stream);
          told.add("returned " + call.outcome);
          steps.onClock = () -> {};
        });
    assertEquals(List.of("returned DEADLINE_EXCEEDED"), told);
  }

  /** Told in another thread: the poller, asleep in a nested wait, is to look again. */
  @Test
  void whatAnotherThreadTellsWakesAPollerThatWaits() throws InterruptedException {
    Call call = call();
    boolean before = steps.clientPoller.beginNested();
    int wakeups = steps.fabric.clientDoorbell().wakeups();
    PollerSteps.beginSleep(steps.clientPoller, false);
    Thread other = new Thread(() -> steps.clientPoller.told(steps.client.entry));
    other.start();
    other.join();
    assertEquals(wakeups + 1, steps.fabric.clientDoorbell().wakeups());
    PollerSteps.endSleep(steps.clientPoller);
    steps.clientPoller.endNested(before);
    PollerSteps.beginSleep(steps.clientPoller, false);
    Thread later = new Thread(() -> steps.clientPoller.told(steps.client.entry));
    later.start();
    later.join();
    assertEquals(wakeups + 1, steps.fabric.clientDoorbell().wakeups(), "nobody waits");
    PollerSteps.endSleep(steps.clientPoller);
    assertNull(call.outcome);
    assertFalse(steps.client.hasEnded());
    assertEquals(0, call.flags & FrameDescriptor.CLOSE);
  }
}
