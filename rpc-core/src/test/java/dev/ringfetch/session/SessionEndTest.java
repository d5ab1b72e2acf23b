package dev.ringfetch.session;

import static dev.ringfetch.session.SessionSteps.bytes;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.session.ClientStream.Outcome;
import dev.ringfetch.session.SessionSteps.Call;
import dev.ringfetch.session.SessionSteps.ServerCall;
import dev.ringfetch.session.SessionSteps.Sizes;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class SessionEndTest {
  private SessionSteps steps = new SessionSteps(Sizes.ROOMY);

  private void assertBothEnded(String client) {
    assertEquals(List.of(client), steps.clientEnds);
    assertEquals(1, steps.serverEnds.size(), "told once");
    assertTrue(steps.client.hasEnded() && steps.server.hasEnded());
    assertTrue(steps.fabric.client().isClosed() && steps.fabric.server().isClosed());
  }

  @Test
  void clientDrainsWhenPendingCallsHaveEnded() {
    drainsWhenPendingCallsHaveEnded(steps.client::drain);
  }

  @Test
  void faultAfterTheEndChangesNothing() {
    steps.client.end("test");
    assertTrue(steps.client.driver.tryAcquire());
    steps.client.ending.failed(new InternalError("of the test"));
    steps.client.driver.releaseAndTell();
    steps.settle();
    assertBothEnded("test");
  }

  @Test
  void serverDrainsWhenPendingCallsHaveEnded() {
    drainsWhenPendingCallsHaveEnded(steps.server::drain);
  }

  private void drainsWhenPendingCallsHaveEnded(Runnable drain) {
    assertEquals(0, steps.client.callCount());
    Call call = steps.send(bytes(3, 1));
    steps.settle();
    assertEquals(1, steps.client.callCount());
    drain.run();
    steps.settle();
    assertTrue(steps.client.isDraining());
    assertFalse(steps.client.hasEnded());
    steps.request().echo();
    steps.settle();
    assertArrayEquals(bytes(3, 2), call.response);
    assertBothEnded("drained");
  }

  /** Memory that a peer can take away. */
  private static final class TruncatedRegion extends DirectRegion {
    boolean truncated;

    TruncatedRegion(int length) {
      super(length);
    }

    @Override
    public long getLong(int index) {
      if (truncated) {
        throw new InternalError("a fault of the test");
      }
      return super.getLong(index);
    }
  }

  /** The fault comes up late, and may do so on the way to the release, past every handler. */
  @Test
  void tokenThatAFaultLeftBehindIsTakenBack() {
    int ring = Sizes.ROOMY.ringLength();
    TruncatedRegion region = new TruncatedRegion(ArenaDescriptor.length(ring, ring));
    steps = new SessionSteps(Sizes.ROOMY, region);
    Call call = steps.send(bytes(3, 1));
    assertTrue(steps.server.driver.tryAcquire());
    region.truncated = true;
    assertTrue(steps.server.driver.probe());
    region.truncated = false;
    steps.settle();
    assertEquals(
        List.of("session failed: java.lang.InternalError: a fault of the test"), steps.serverEnds);
    assertEquals(Outcome.SESSION_ENDED, call.outcome);
    assertBothEnded("peer closed");
  }

  @Test
  void firstReasonToDrainCounts() {
    Call call = steps.send(bytes(3, 1));
    steps.client.drain("first");
    steps.client.drain("second");
    steps.server.drain();
    steps.answerAll();
    assertEquals(Outcome.ANSWERED, call.outcome);
    assertBothEnded("first");
  }

  @Test
  void idleClientDrainsAtOnce() {
    steps.client.drain();
    steps.settle();
    assertBothEnded("drained");
  }

  @Test
  void serverDrainsAnIdleSession() {
    steps.server.drain();
    steps.settle();
    assertTrue(steps.client.isDraining());
    assertBothEnded("drained");
  }

  @Test
  void serverDrainsAnIdleSessionThatHasServed() {
    steps.send(bytes(3, 1));
    steps.answerAll();
    steps.server.drain();
    steps.settle();
    assertBothEnded("drained");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6})
  void drainNoticeWaitsForRoom(int responses) {
    steps = new SessionSteps(new Sizes(128, 64, 8, 1000));
    for (int i = 0; i < responses; i++) {
      steps.send(bytes(1, 1));
      steps.stepServer();
    }
    steps.requests.forEach(ServerCall::echo);
    steps.server.drain();
    for (int i = 0; i < 20; i++) {
      steps.fabric.clientDoorbell().poll(); // no ring is late enough to help
      steps.stepClient();
      steps.fabric.clientDoorbell().poll();
      steps.stepClient();
      steps.stepServer();
    }
    assertBothEnded("drained");
  }

  @Test
  void endTellsWhatTheServerMayHaveSeen() {
    steps = new SessionSteps(new Sizes(128, 64, 8, 10_000));
    Call sent = steps.send(bytes(1, 1));
    Call begun = steps.send(bytes(1000, 1)); // one frame of many fits
    Call unsent = steps.send(bytes(1, 1));
    steps.client.end("test");
    Call late = steps.send(bytes(1, 1));
    assertEquals(Outcome.SESSION_ENDED, sent.outcome);
    assertEquals(Outcome.SESSION_ENDED, begun.outcome);
    assertEquals(Outcome.NOT_SENT, unsent.outcome);
    assertEquals(Outcome.NOT_SENT, late.outcome);
    assertEquals("test", steps.client.endReason());
    steps.settle();
    assertBothEnded("test");
  }

  @Test
  void whatIsCommittedIsDeliveredFirst() {
    Call answered = steps.send(bytes(1, 1));
    Call unanswered = steps.send(bytes(1, 2));
    steps.settle();
    steps.requests.get(0).echo();
    steps.fabric.client().disconnect("lost");
    steps.settle();
    assertEquals(Outcome.ANSWERED, answered.outcome);
    assertEquals(Outcome.SESSION_ENDED, unanswered.outcome);
    assertEquals(1, steps.requests.get(1).cancels);
    assertEquals(0, steps.requests.get(0).cancels);
    assertBothEnded("lost");
  }

  /** Its bytes may have come out of memory that was not there any more. */
  @Test
  void answerThatWasNotToldIsNotTrustedWhenTheSessionFails() {
    Call late = steps.send(bytes(1, 1), 1000);
    Call answered = steps.send(bytes(1, 1));
    Call told = steps.send(bytes(1, 1));
    steps.settle();
    steps.requests.remove(2).echo();
    steps.settle();
    steps.requests.get(1).echo();
    assertTrue(steps.client.driver.tryAcquire());
    steps.advance(1000);
    steps.client.work(true);
    steps.client.ending.failed(new InternalError("a fault of the test"));
    steps.client.driver.releaseAndTell();
    assertEquals(Outcome.DEADLINE_EXCEEDED, late.outcome);
    assertEquals(Outcome.SESSION_ENDED, answered.outcome);
    assertEquals(Outcome.ANSWERED, told.outcome);
  }

  @Test
  void requestThatWasNotToldIsNotTrustedWhenTheSessionFails() {
    steps.send(bytes(1, 1));
    assertTrue(steps.server.driver.tryAcquire());
    steps.server.work(true);
    steps.server.ending.failed(new InternalError("a fault of the test"));
    steps.server.driver.releaseAndTell();
    assertTrue(steps.request().stream.isCancelled());
  }

  /** Cancelled before anybody has seen it: it is told nothing, also when the session ends. */
  @Test
  void callThatWasCancelledIsNotToldOfTheEnd() {
    ClientStream stream = steps.client.open();
    stream.prepare(
        (ended, outcome) -> {
          throw new AssertionError("told of " + outcome);
        },
        SessionSteps.UNIT,
        5,
        Stream.NO_DEADLINE,
        100);
    assertTrue(steps.client.driver.tryAcquire());
    steps.client.send(stream);
    steps.client.cancel(stream);
    steps.client.end("test");
    if (steps.client.driver.leave()) {
      steps.client.driver.drive();
    }
    assertEquals(List.of("test"), steps.clientEnds);
    assertFalse(stream.ended, "told");
  }

  @Test
  void deadPeersRequestsAreCancelled() {
    steps.send(bytes(1, 1));
    steps.settle();
    steps.fabric.client().close();
    steps.settle();
    ServerCall request = steps.request();
    assertEquals(1, request.cancels);
    request.echo(); // dropped
    assertEquals(List.of("peer closed"), steps.serverEnds);
  }

  @Test
  void cancelAndReleaseAfterTheEndAreHarmless() {
    Call call = steps.send(bytes(1, 1));
    Call cancelled = steps.send(bytes(1, 1));
    cancelled.cancel();
    steps.client.end("test");
    steps.settle();
    assertEquals(Outcome.SESSION_ENDED, call.outcome);
    assertNull(cancelled.outcome);
    steps.client.cancel(cancelled.stream);
    steps.client.drain();
    steps.client.end("again");
    steps.settle();
    assertBothEnded("test");
  }

  @Test
  void abortAnswersEveryCall() {
    Call call = steps.send(bytes(1, 1));
    Call chain = steps.prepare(bytes(1, 1), Stream.NO_DEADLINE);
    steps.settle();
    steps.server.abort("shutdown");
    steps.settle();
    assertEquals(Outcome.ANSWERED, call.outcome);
    assertEquals(FrameDescriptor.CLOSE, call.flags);
    assertEquals(14, call.code);
    assertEquals(1, steps.request().cancels);
    assertEquals(List.of("shutdown"), steps.serverEnds);
    steps.client.send(chain.stream);
    assertEquals(Outcome.NOT_SENT, chain.outcome);
  }

  @Test
  void abortAnswersEveryCallAlsoWhileAnotherThreadOwnsTheSession() {
    Call call = steps.send(bytes(1, 1));
    steps.settle();
    assertTrue(steps.server.driver.tryAcquire());
    steps.server.abort("shutdown");
    if (steps.server.driver.releaseAndTell()) {
      steps.server.driver.drive();
    }
    steps.settle();
    assertEquals(Outcome.ANSWERED, call.outcome);
    assertEquals(FrameDescriptor.CLOSE, call.flags);
    assertEquals(14, call.code);
  }

  @Test
  void endWhileAnotherThreadOwnsTheSession() {
    Call call = steps.send(bytes(1, 1));
    assertTrue(steps.client.driver.tryAcquire());
    steps.client.end("test");
    assertTrue(steps.client.hasEnded());
    assertNull(call.outcome);
    if (steps.client.driver.leave()) {
      steps.client.driver.drive();
    }
    steps.settle();
    assertEquals(Outcome.SESSION_ENDED, call.outcome);
    assertBothEnded("test");
  }
}
