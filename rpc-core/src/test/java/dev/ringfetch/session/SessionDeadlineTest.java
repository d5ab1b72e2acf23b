package dev.ringfetch.session;

import static dev.ringfetch.session.SessionSteps.bytes;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.Doorbell;
import dev.ringfetch.fabric.HeapFabric;
import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.session.ClientStream.Outcome;
import dev.ringfetch.session.SessionSteps.Call;
import dev.ringfetch.session.SessionSteps.ServerCall;
import dev.ringfetch.session.SessionSteps.Sizes;
import dev.ringfetch.session.poller.PollerSteps;
import dev.ringfetch.session.unit.Units;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class SessionDeadlineTest {
  private final SessionSteps steps = new SessionSteps(Sizes.ROOMY);

  @Test
  void clientEndsACallThatIsLate() {
    Call call = steps.send(bytes(3, 1), 1000);
    int id = call.stream.id;
    steps.advance(999);
    steps.settle();
    assertNull(call.outcome);
    steps.advance(1);
    steps.stepClient();
    assertEquals(Outcome.DEADLINE_EXCEEDED, call.outcome);
    assertEquals(id, call.stream.id, "not free before the server has closed it");
    steps.settle();
    ServerCall request = steps.request();
    assertEquals(1, request.cancels);
    Call next = steps.send(bytes(3, 5));
    assertEquals(id + 0x10000, next.stream.id);
    steps.settle();
    request.echo();
    steps.request().echo();
    steps.settle();
    assertArrayEquals(bytes(3, 6), next.response);
  }

  @Test
  void serverEndsACallThatIsLate() {
    Call call = steps.send(bytes(3, 1), 1000);
    steps.settle();
    ServerCall request = steps.request();
    assertEquals(steps.nowNs() + 1000, request.stream.deadlineNs());
    steps.advance(1000);
    steps.stepServer();
    assertEquals(1, request.cancels);
    steps.client.deadlines.remove(call.stream); // the server is the quicker one
    steps.settle();
    assertEquals(Outcome.ANSWERED, call.outcome);
    assertEquals(FrameDescriptor.CLOSE, call.flags);
    assertEquals(4, call.code);
  }

  @Test
  void bothAreLateAtOnce() {
    Call call = steps.send(bytes(3, 1), 1000);
    steps.settle();
    steps.advance(5000);
    steps.stepServer();
    steps.client.driver.drive();
    steps.settle();
    assertTrue(call.isOver());
    for (int i = 0; i < 64; i++) {
      steps.send(bytes(1, 1));
    }
    assertNull(steps.client.open());
  }

  @Test
  void answeredInTime() {
    Call call = steps.send(bytes(3, 1), 1000);
    steps.settle();
    steps.request().echo();
    steps.advance(999);
    steps.settle();
    steps.advance(1000);
    steps.settle();
    assertEquals(Outcome.ANSWERED, call.outcome);
    assertArrayEquals(bytes(3, 2), call.response);
    assertEquals(Stream.NO_DEADLINE, steps.client.deadlines.earliestNs());
    assertEquals(Stream.NO_DEADLINE, steps.server.deadlines.earliestNs());
  }

  @Test
  void lateBeforeItWasSent() {
    Call call = steps.send(bytes(3, 1), 0);
    steps.settle();
    assertEquals(Outcome.DEADLINE_EXCEEDED, call.outcome);
    assertFalse(steps.client.hasEnded());
  }

  /** The origin of nanoTime is arbitrary. */
  @Test
  void callWithoutADeadlineIsNeverLate() {
    steps.advance(Long.MIN_VALUE / 2);
    Call call = steps.send(bytes(3, 1));
    Call timed = steps.send(bytes(3, 1), 1000);
    steps.settle();
    assertFalse(call.isOver() || timed.isOver());
    assertEquals(0, steps.requests.stream().mapToInt(request -> request.cancels).sum());
    assertEquals(Stream.NO_DEADLINE, steps.requests.get(0).stream.deadlineNs());
    steps.advance(1000);
    steps.settle();
    assertEquals(Outcome.DEADLINE_EXCEEDED, timed.outcome);
    assertFalse(call.isOver());
    steps.answerAll();
    assertEquals(Outcome.ANSWERED, call.outcome);
  }

  @Test
  void lateCallIsClosedOnce() {
    Call call = steps.send(bytes(3, 1), 1000);
    steps.fabric.serverDoorbell().hold(true); // its own clock would end the call as well
    steps.advance(1000);
    steps.client.driver.service(false);
    assertEquals(Outcome.DEADLINE_EXCEEDED, call.outcome);
    long position = steps.client.writePosition();
    steps.client.cancel(call.stream);
    assertEquals(position, steps.client.writePosition(), "a second CLOSE");
    steps.fabric.serverDoorbell().hold(false);
    steps.settle();
    assertFalse(steps.server.hasEnded());
  }

  @Test
  void lateWhileThereIsNoRoom() {
    SessionSteps tiny = new SessionSteps(new Sizes(128, 64, 8, 1000));
    tiny.send(bytes(1, 1));
    tiny.send(bytes(1, 1));
    Call call = tiny.send(bytes(1, 1), 1000);
    tiny.fabric.clientDoorbell().hold(true);
    tiny.advance(1000);
    tiny.stepClient();
    assertEquals(Outcome.DEADLINE_EXCEEDED, call.outcome);
    Call next = tiny.send(bytes(1, 5));
    assertEquals(call.stream, next.stream, "nobody had seen it: free at once");
    tiny.fabric.clientDoorbell().hold(false);
    tiny.answerAll();
    assertEquals(Outcome.ANSWERED, next.outcome);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -1, Long.MIN_VALUE})
  void timeoutOfNothingEndsAtTheServerAtOnce(long timeoutNs) {
    Call call = steps.prepare(new byte[0], Stream.NO_DEADLINE);
    call.stream.outbound().addLong(timeoutNs);
    call.stream.prepare(
        call, SessionSteps.UNIT | FrameDescriptor.DEADLINE, 5, Stream.NO_DEADLINE, 100);
    steps.onClock = () -> steps.advance(1); // one look is not like the other
    steps.client.send(call.stream);
    steps.settle();
    assertEquals(4, call.code);
    assertEquals(FrameDescriptor.CLOSE, call.flags);
  }

  @Test
  void timeoutOfAgesIsCutToACentury() {
    Call call = steps.prepare(new byte[0], Stream.NO_DEADLINE);
    call.stream.outbound().addLong(Long.MAX_VALUE);
    call.stream.prepare(
        call, SessionSteps.UNIT | FrameDescriptor.DEADLINE, 5, Stream.NO_DEADLINE, 100);
    steps.client.send(call.stream);
    steps.settle();
    assertEquals(steps.nowNs() + Units.MAX_TIMEOUT_NS, steps.request().stream.deadlineNs());
  }

  @Test
  void sleeperSleepsUntilTheEarliestDeadline() {
    steps.send(bytes(1, 1), 5000);
    steps.send(bytes(1, 1), 3000);
    steps.settle();
    assertEquals(3000, steps.fabric.clientDoorbell().lastTimeoutNs());
    assertEquals(3000, steps.fabric.serverDoorbell().lastTimeoutNs());
    steps.advance(2000);
    steps.settle();
    assertEquals(1000, steps.fabric.clientDoorbell().lastTimeoutNs());
    steps.requests.forEach(ServerCall::echo);
    steps.requests.clear();
    steps.settle();
    assertEquals(Doorbell.FOREVER, steps.fabric.clientDoorbell().lastTimeoutNs());
    assertEquals(Doorbell.FOREVER, steps.fabric.serverDoorbell().lastTimeoutNs());
  }

  /** Only what comes before the time for which it sleeps wakes a sleeper. */
  @Test
  void sleeperIsWokenForAnEarlierDeadline() {
    assertEquals(Doorbell.FOREVER, PollerSteps.beginSleep(steps.clientPoller, true));
    int wakeups = steps.fabric.clientDoorbell().wakeups();
    steps.send(bytes(1, 1));
    assertEquals(wakeups, steps.fabric.clientDoorbell().wakeups(), "no deadline");
    steps.send(bytes(1, 1), 5000);
    assertEquals(wakeups + 1, steps.fabric.clientDoorbell().wakeups());
    PollerSteps.endSleep(steps.clientPoller);
    assertEquals(5000, PollerSteps.beginSleep(steps.clientPoller, true));
    steps.send(bytes(1, 1), 6000);
    steps.send(bytes(1, 1), 5000);
    assertEquals(wakeups + 1, steps.fabric.clientDoorbell().wakeups(), "awake in time anyway");
    steps.send(bytes(1, 1), 4999);
    assertEquals(wakeups + 2, steps.fabric.clientDoorbell().wakeups());
    PollerSteps.endSleep(steps.clientPoller);
    assertEquals(4999, PollerSteps.beginSleep(steps.clientPoller, true));
    steps.advance(6000);
    PollerSteps.endSleep(steps.clientPoller);
    assertEquals(0, PollerSteps.beginSleep(steps.clientPoller, true), "late: it is not put off");
    PollerSteps.endSleep(steps.clientPoller);
  }

  /** One poller, two sessions: the deadline of the quiet one is kept while the other is busy. */
  @Test
  void busySessionDoesNotHoldUpTheDeadlinesOfAQuietOne() throws Exception {
    Call late = steps.send(bytes(1, 1), 1000);
    steps.settle(); // the session sleeps
    steps.clientPoller.add(new BusySession(steps).entry);
    for (int round = 0; round < 10; round++) {
      steps.advance(100_000);
      assertTrue(steps.clientPoller.doWork() > 0, "busy");
    }
    assertEquals(Outcome.DEADLINE_EXCEEDED, late.outcome);
  }

  /** A session that always has something to do. */
  private static final class BusySession extends CountingSession {
    BusySession(SessionSteps steps) {
      super(
          new HeapFabric(MEMORY_LENGTH),
          steps.clientPoller,
          new SessionContext().clock(steps::nowNs));
    }

    @Override
    void onRound() {
      driver.submit(new TestStream(1), 1); // for the next round
    }
  }
}
