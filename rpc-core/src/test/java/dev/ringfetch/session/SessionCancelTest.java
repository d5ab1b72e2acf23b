package dev.ringfetch.session;

import static dev.ringfetch.session.SessionSteps.bytes;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.session.ClientStream.Outcome;
import dev.ringfetch.session.SessionSteps.Call;
import dev.ringfetch.session.SessionSteps.ServerCall;
import dev.ringfetch.session.SessionSteps.Sizes;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class SessionCancelTest {
  private SessionSteps steps = new SessionSteps(Sizes.ROOMY);

  private void assertIndexReused(Call call, int oldId) {
    Call next = steps.send(bytes(3, 1));
    assertEquals(oldId & 0xFFFF, next.stream.id & 0xFFFF, "index");
    assertEquals(oldId + 0x10000, next.stream.id, "generation");
    steps.settle();
    steps.requests.get(steps.requests.size() - 1).echo();
    steps.settle();
    assertArrayEquals(bytes(3, 2), next.response);
    assertNull(call.outcome, "a cancelled call is told nothing");
    assertFalse(steps.client.hasEnded());
    assertFalse(steps.server.hasEnded());
  }

  @Test
  void beforeItWasSent() {
    Call call = steps.prepare(bytes(3, 1), Stream.NO_DEADLINE);
    int id = call.stream.id;
    assertTrue(steps.client.driver.tryAcquire()); // another thread is at work
    steps.client.send(call.stream);
    call.cancel();
    long before = steps.client.writePosition();
    if (steps.client.driver.releaseAndTell()) {
      steps.client.driver.drive();
    }
    steps.settle();
    assertEquals(before, steps.client.writePosition(), "nobody has seen it");
    assertTrue(steps.requests.isEmpty());
    assertIndexReused(call, id);
  }

  @Test
  void beforeThereWasRoom() {
    steps = new SessionSteps(new Sizes(128, 64, 8, 1000));
    steps.send(bytes(1, 1));
    steps.send(bytes(1, 1));
    Call call = steps.send(bytes(1, 1));
    int id = call.stream.id;
    long before = steps.client.writePosition();
    call.cancel();
    assertEquals(before, steps.client.writePosition());
    Call next = steps.send(bytes(1, 9));
    assertSame(call.stream, next.stream);
    assertEquals(id + 0x10000, next.stream.id);
    steps.answerAll();
    assertArrayEquals(bytes(1, 10), next.response);
  }

  @Test
  void afterItWasSent() {
    Call call = steps.send(bytes(3, 1));
    int id = call.stream.id;
    steps.settle();
    ServerCall request = steps.request();
    call.cancel();
    assertEquals(id, call.stream.id, "not free before the server has closed it");
    steps.settle();
    assertEquals(1, request.cancels);
    assertTrue(request.stream.isCancelled());
    assertIndexReused(call, id);
    request.respond(bytes(3, 7)); // dropped
    steps.settle();
    assertFalse(steps.client.hasEnded());
  }

  @Test
  void beforeTheServerLooked() {
    Call call = steps.send(bytes(3, 1));
    int id = call.stream.id;
    call.cancel();
    steps.settle();
    assertTrue(steps.request().stream.isCancelled());
    assertIndexReused(call, id);
  }

  /** A caller has decided to cancel, and asks for it only after the listener was told of an end. */
  @Test
  void afterTheListenerWasTold() {
    Call call = steps.send(bytes(3, 1));
    int id = call.stream.id;
    steps.settle();
    steps.request().echo();
    call.cancelled = true; // the listener sees it, and releases the stream as cancelled
    steps.settle();
    Call next = steps.send(bytes(3, 5));
    assertFalse(next.stream == call.stream, "the cancel is still to come");
    steps.client.cancel(call.stream);
    steps.answerAll();
    assertArrayEquals(bytes(3, 6), next.response);
    steps.send(bytes(3, 1)); // takes the index that came back last
    assertIndexReused(call, id);
  }

  /** As many cancelled calls may still run as calls may be under way. */
  @Test
  void ofAsManyCallsAsThereAreStreams() {
    steps = new SessionSteps(new Sizes(64 * 1024, 4096, 80, 1000));
    List<Call> calls = new ArrayList<>();
    for (int i = 0; i < 80; i++) {
      calls.add(steps.send(bytes(1, 1)));
    }
    steps.settle();
    calls.subList(0, 79).forEach(Call::cancel);
    steps.settle();
    assertEquals(80, steps.requests.size());
    Call accepted = steps.send(bytes(1, 1));
    steps.settle();
    assertFalse(accepted.isOver());
    calls.get(79).cancel();
    steps.settle();
    Call refused = steps.send(bytes(1, 1));
    steps.settle();
    assertEquals(8, refused.code);
    assertEquals(81, steps.requests.size());
  }

  @Test
  void crossesTheResponse() {
    Call call = steps.send(bytes(3, 1));
    int id = call.stream.id;
    steps.settle();
    ServerCall request = steps.request();
    request.echo();
    call.cancel();
    steps.settle();
    assertEquals(0, request.cancels);
    assertIndexReused(call, id);
  }

  @Test
  void withinAChainOfTheRequest() {
    steps = new SessionSteps(new Sizes(1024, 256, 8, 1 << 20));
    Call call = steps.send(bytes(20_000, 1));
    int id = call.stream.id;
    steps.stepServer();
    call.cancel();
    steps.settle();
    assertTrue(steps.requests.isEmpty(), "never whole");
    assertIndexReused(call, id);
  }

  @Test
  void withinAChainOfTheResponse() {
    steps = new SessionSteps(new Sizes(1024, 256, 8, 1 << 20));
    Call call = steps.send(bytes(3, 1));
    int id = call.stream.id;
    steps.settle();
    ServerCall request = steps.request();
    request.respond(bytes(20_000, 1));
    steps.stepClient();
    call.cancel();
    steps.settle();
    assertEquals(1, request.cancels);
    assertIndexReused(call, id);
  }

  @Test
  void listenerCancelsACallThatWaitsToBeToldInTheSameRound() {
    List<Call> calls = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      calls.add(steps.send(bytes(1, i)));
    }
    calls.get(0).onClosed = () -> calls.get(1).cancel();
    steps.settle();
    steps.requests.forEach(ServerCall::echo);
    steps.requests.clear();
    steps.settle();
    for (int i : new int[] {0, 2, 3}) {
      assertEquals(Outcome.ANSWERED, calls.get(i).outcome, "call " + i);
    }
    assertNull(calls.get(1).outcome);
    for (int i = 0; i < 64; i++) {
      steps.send(bytes(1, 1)); // all indexes came back, once each
    }
    assertNull(steps.client.open());
    steps.settle();
    assertEquals(64, steps.requests.stream().map(r -> r.id).distinct().count());
  }

  /** The stream of a call that was cancelled while it was to be told serves the next call. */
  @Test
  void nextCallIsNotToldOfAnEndThatIsNotItsOwn() {
    Call first = steps.send(bytes(1, 1));
    Call second = steps.send(bytes(1, 2));
    List<Call> third = new ArrayList<>();
    first.onClosed =
        () -> {
          second.cancel();
          third.add(steps.send(bytes(1, 3)));
        };
    steps.settle();
    steps.requests.forEach(ServerCall::echo);
    steps.requests.clear();
    steps.stepClient();
    assertNull(third.get(0).outcome);
    steps.answerAll();
    assertEquals(Outcome.ANSWERED, third.get(0).outcome);
    assertArrayEquals(bytes(1, 4), third.get(0).response);
  }

  /** The answer to a cancel waits for room, and the handler answers meanwhile. */
  @Test
  void cancelIsAnsweredWhateverTheHandlerDoes() {
    steps = new SessionSteps(new Sizes(128, 64, 8, 1000));
    Call slow = steps.send(bytes(1, 1), 1000);
    Call other = steps.send(bytes(1, 2));
    steps.stepServer();
    Call third = steps.send(bytes(1, 3));
    steps.stepServer();
    ServerCall slowAtServer = steps.requests.get(0);
    steps.requests.get(1).echo();
    steps.requests.get(2).echo(); // the response ring is full
    steps.requests.clear();
    slow.stream.deadlineNs = Stream.NO_DEADLINE; // the client's clock is behind
    steps.client.deadlines.remove(slow.stream);
    steps.advance(1000);
    steps.stepServer(); // the deadline at the server: its CLOSE waits for room
    assertTrue(slowAtServer.stream.isCancelled());
    slowAtServer.respond(bytes(1, 7));
    steps.settle();
    assertEquals(Outcome.ANSWERED, slow.outcome);
    assertEquals(FrameDescriptor.CLOSE, slow.flags);
    assertEquals(4, slow.code);
    assertTrue(other.isOver() && third.isOver());
  }

  /** Nor those that were late: the counter of calls without an answer does not include these. */
  @Test
  void cancelledCallsAreNotUnanswered() {
    SessionSteps steps = new SessionSteps(Sizes.ROOMY);
    for (int i = 0; i < 10; i++) {
      steps.send(bytes(10, 1), i < 5 ? 1000 : Stream.NO_DEADLINE);
    }
    Call open = steps.send(bytes(10, 1));
    steps.stepServer();
    steps.stepServer();
    assertEquals(11, steps.requests.size());
    steps.advance(1000);
    for (int i = 5; i < 10; i++) {
      steps.client.cancel(steps.client.streams.get(i + 1));
    }
    steps.stepServer();
    steps.stepServer();
    steps.server.end("test"); // the client has taken nothing
    assertEquals(1, steps.server.unanswered());
    steps.settle();
    assertEquals(Outcome.SESSION_ENDED, open.outcome);
  }
}
