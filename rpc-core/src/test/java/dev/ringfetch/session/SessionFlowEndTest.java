package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.CLOSE;
import static dev.ringfetch.ring.FrameDescriptor.DEADLINE;
import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;
import static dev.ringfetch.ring.FrameDescriptor.WINDOW_UPDATE;
import static dev.ringfetch.session.FlowSteps.IN_UPDATE;
import static dev.ringfetch.session.FlowSteps.IN_WINDOW;
import static dev.ringfetch.session.FlowSteps.WIDE;
import static dev.ringfetch.session.FlowSteps.message;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.session.ClientStream.Outcome;
import dev.ringfetch.session.FlowSteps.Call;
import dev.ringfetch.session.FlowSteps.Served;
import dev.ringfetch.session.SessionSteps.Sizes;
import dev.ringfetch.session.unit.Unit;
import dev.ringfetch.session.unit.UnitBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How calls of many units end: from either side, in every state, and with the session. */
@Timeout(60)
class SessionFlowEndTest {
  private static final int STREAMS = 8;
  private static final Sizes SMALL = new Sizes(1024, 128, STREAMS, 1024 * 1024);

  private SessionSteps steps = new SessionSteps(WIDE);
  private FlowSteps flows = new FlowSteps(steps);
  private Served served; // of the call in callAt, which has begun there

  private void start(Sizes sizes) {
    steps = new SessionSteps(sizes);
    flows = new FlowSteps(steps);
  }

  private Served served() {
    steps.settle();
    final Served served = flows.served();
    assertTrue(served.take().has(PREFIX));
    return served;
  }

  /** Every index has come back, and each is good for a call of either kind. */
  private void assertAllServe() {
    assertFalse(steps.client.hasEnded());
    for (int round = 0; round < 2; round++) {
      final List<Call> calls = new ArrayList<>();
      for (int i = 0; i < STREAMS; i++) {
        calls.add(flows.begin());
      }
      assertNull(steps.client.open());
      steps.settle();
      final List<Served> served = new ArrayList<>();
      for (int i = 0; i < STREAMS; i++) {
        served.add(flows.served(i));
      }
      steps.requests.clear();
      served.forEach(one -> one.write(SUFFIX, 7, new byte[0]));
      steps.settle();
      for (final Call call : calls) {
        assertEquals(Outcome.ANSWERED, call.outcome());
        final Unit end = call.take();
        assertEquals(SUFFIX, end.flags());
        assertEquals(7, end.code());
        assertNull(call.take());
      }
    }
    final SessionSteps.Call unary = steps.send(message(20, 1));
    steps.answerAll();
    assertEquals(Outcome.ANSWERED, unary.outcome);
    assertFalse(steps.server.hasEnded());
    steps.client.drain();
    steps.settle();
    assertEquals(List.of("drained"), steps.clientEnds, "something is still under way");
  }

  /** Where a call is when it is cancelled. */
  private enum Moment {
    BEFORE_THE_OWNER_HEARS,
    UNBEGUN,
    IN_THE_FIRST_UNIT,
    QUIET,
    IN_A_LATER_UNIT,
    WINDOW_CLOSED,
    HALF_CLOSED,
    UPDATE_IN_LINE,
    IN_A_RESPONSE,
    ANSWERED
  }

  private Call callAt(Moment moment) {
    if (moment == Moment.BEFORE_THE_OWNER_HEARS) {
      final Call call = flows.prepare(Stream.NO_DEADLINE, PREFIX, new byte[0]);
      assertTrue(steps.client.driver.tryAcquire());
      steps.client.send(call.stream);
      return call;
    }
    if (moment == Moment.UNBEGUN) {
      final Call before = flows.begin(Stream.NO_DEADLINE, PREFIX | MESSAGE, message(2000, 1));
      final Call call = flows.begin(Stream.NO_DEADLINE, PREFIX | MESSAGE, message(2000, 2));
      assertFalse(call.stream.outboundBegun);
      before.cancel();
      return call;
    }
    if (moment == Moment.IN_THE_FIRST_UNIT) {
      final Call call = flows.begin(Stream.NO_DEADLINE, PREFIX | MESSAGE, message(2000, 1));
      assertTrue(call.stream.outboundBegun);
      return call;
    }
    final Call call = flows.begin();
    served = served();
    switch (moment) {
      case IN_A_LATER_UNIT -> {
        call.write(MESSAGE, message(5000, 1));
        assertTrue(call.stream.flow().queuedLength() > 0);
      }
      case WINDOW_CLOSED -> {
        call.write(IN_WINDOW + 1);
        steps.settle();
        assertTrue(call.stream.flow().queuedLength() > 0);
      }
      case HALF_CLOSED -> call.write(SUFFIX, new byte[0]);
      case UPDATE_IN_LINE -> {
        served.write(IN_UPDATE);
        steps.settle();
        call.write(MESSAGE, message(5000, 1));
        call.takeAll();
        assertTrue(call.stream.flow.updateDue);
      }
      case IN_A_RESPONSE -> {
        served.write(MESSAGE, 0, message(5000, 1));
        steps.stepClient();
        assertTrue(call.stream.incoming.isPartial());
      }
      case ANSWERED -> {
        served.write(SUFFIX, 0, new byte[0]);
        steps.settle();
        assertEquals(Outcome.ANSWERED, call.outcome());
      }
      default -> steps.settle();
    }
    return call;
  }

  @ParameterizedTest
  @EnumSource(Moment.class)
  void cancelledCallIsGoneAtBothSides(Moment moment) {
    start(SMALL);
    final Call call = callAt(moment);
    final int told = call.told;
    call.cancel();
    if (moment == Moment.BEFORE_THE_OWNER_HEARS) {
      assertTrue(steps.client.driver.releaseAndTell());
      steps.client.driver.drive();
      assertEquals(0, steps.client.writePosition() - steps.server.pollPosition());
    }
    call.write(3); // crosses the cancel
    steps.settle();
    call.write(3);
    steps.settle();
    assertEquals(told, call.told, "told of something after it was cancelled");
    assertEquals(moment == Moment.ANSWERED ? Outcome.ANSWERED : null, call.outcome());
    steps.requests.clear();
    assertAllServe();
  }

  @ParameterizedTest
  @EnumSource(
      value = Moment.class,
      names = {"QUIET", "IN_A_LATER_UNIT", "WINDOW_CLOSED", "HALF_CLOSED", "UPDATE_IN_LINE"})
  void serverIsToldOfACancel(Moment moment) {
    start(SMALL);
    final Call call = callAt(moment);
    served.write(IN_WINDOW + 2); // more than may go
    call.cancel();
    steps.settle();
    assertFalse(served.stream.flow.isLoaded(), "kept for nobody");
    assertEquals(1, served.cancels);
    assertTrue(served.stream.isCancelled());
    served.write(3); // dropped
    steps.server.release(served.stream);
    served.write(SUFFIX, 0, new byte[0]);
    steps.settle();
    assertFalse(served.stream.flow().isSent());
    assertAllServe();
  }

  /** An update that comes in while the cancel waits for room is not what the ring gets instead. */
  @Test
  void cancelIsNotReplacedByWhatIsWrittenLater() {
    start(SMALL);
    final Call call = flows.begin();
    final Served served = served();
    call.write(IN_WINDOW + 20);
    served.write(IN_UPDATE);
    steps.settle();
    for (int i = 0; i < IN_UPDATE; i++) {
      served.take(); // an update is on its way
    }
    final List<Call> others = new ArrayList<>();
    while (!steps.client.outbox.isBlocked()) {
      others.add(flows.begin());
      others.get(others.size() - 1).write(20);
    }
    call.cancel();
    call.write(1);
    assertEquals(IN_UPDATE, call.takeAll().size());
    assertTrue(steps.client.outbox.isBlocked());
    steps.settle();
    assertEquals(1, served.cancels);
    others.forEach(Call::cancel);
    steps.settle();
    steps.requests.clear();
    assertAllServe();
  }

  /** As before, of a deadline, whose call has not heard of it yet. */
  @Test
  void closeAtTheDeadlineIsNotReplacedByWhatTheWindowHeldBack() {
    start(SMALL);
    final Call call = flows.begin(steps.nowNs() + 1000, PREFIX, new byte[0]);
    final Served served = served();
    call.write(IN_WINDOW + 20);
    steps.settle();
    final List<Call> others = new ArrayList<>();
    while (!steps.client.outbox.isBlocked()) {
      others.add(flows.begin());
      others.get(others.size() - 1).write(20);
    }
    steps.advance(1000);
    steps.stepClient();
    assertEquals(Outcome.DEADLINE_EXCEEDED, call.outcome());
    assertEquals(IN_WINDOW, served.takeAll().size()); // so that more could be sent
    steps.stepClient();
    assertTrue(steps.client.outbox.isBlocked());
    steps.settle();
    assertEquals(1, served.cancels);
    assertNull(served.take());
    call.cancel();
    others.forEach(Call::cancel);
    steps.settle();
    steps.requests.clear();
    assertAllServe();
  }

  /** Nobody has read what either side has said, and there is room for two frames each. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void endsGetThroughFullRings(boolean byClient) {
    start(new Sizes(128, 64, STREAMS, 1000));
    final List<Call> calls = new ArrayList<>();
    final List<Served> serving = new ArrayList<>();
    for (int i = 0; i < STREAMS; i++) {
      calls.add(flows.begin());
      serving.add(served());
    }
    for (int i = 0; i < STREAMS; i++) {
      for (int n = 0; n < 5; n++) {
        calls.get(i).write(MESSAGE, message(30, n));
        serving.get(i).write(MESSAGE, 0, message(30, n));
      }
    }
    assertEquals(2, steps.client.writePosition() - steps.server.pollPosition());
    assertEquals(2, steps.server.writePosition() - steps.client.pollPosition());
    if (byClient) {
      calls.forEach(Call::cancel);
    } else {
      serving.forEach(served -> served.write(SUFFIX, 3, new byte[0]));
    }
    steps.settle();
    for (int i = 0; i < STREAMS; i++) {
      assertEquals(byClient ? 1 : 0, serving.get(i).cancels);
      assertEquals(byClient ? null : Outcome.ANSWERED, calls.get(i).outcome());
      assertEquals(!byClient, serving.get(i).stream.flow().isSent());
    }
    assertAllServe();
  }

  @Test
  void deadlineOfTheClient() {
    final Call call = flows.begin(steps.nowNs() + 1000, PREFIX, new byte[0]);
    final Served served = served();
    call.write(IN_WINDOW + 5);
    steps.settle();
    steps.advance(1000);
    steps.settle();
    assertEquals(Outcome.DEADLINE_EXCEEDED, call.outcome());
    assertNull(call.take());
    assertEquals(1, served.cancels);
    call.cancel(); // as the call does when it is told; nothing follows
    steps.settle();
    assertAllServe();
  }

  @Test
  void deadlineOfACallThatNobodyHasSeen() {
    start(SMALL);
    flows.begin(Stream.NO_DEADLINE, PREFIX | MESSAGE, message(2000, 1)).cancel();
    final Call call = flows.begin(steps.nowNs() + 1000, PREFIX, new byte[0]);
    steps.advance(1000);
    steps.stepClient();
    assertEquals(Outcome.DEADLINE_EXCEEDED, call.outcome());
    steps.settle();
    assertTrue(steps.requests.isEmpty());
    assertAllServe();
  }

  @Test
  void deadlineOfTheServer() {
    final UnitBuffer timeout = new UnitBuffer();
    timeout.addLong(1000);
    final Call call =
        flows.begin(
            Stream.NO_DEADLINE, PREFIX | DEADLINE, FlowSteps.bytesOf(new Unit(PREFIX, 0, timeout)));
    final Served served = served();
    assertEquals(steps.nowNs() + 1000, served.stream.deadlineNs());
    served.write(MESSAGE, 0, message(10, 1));
    steps.settle();
    steps.advance(1000);
    steps.settle();
    assertEquals(1, served.cancels);
    assertEquals(MESSAGE, call.take().flags());
    final Unit end = call.take();
    assertEquals(CLOSE, end.flags());
    assertEquals(4, end.code());
    assertEquals(Outcome.ANSWERED, call.outcome());
    assertAllServe();
  }

  @Test
  void deadlineIsForgottenWithTheAnswer() {
    final Call call = flows.begin(steps.nowNs() + 1000, PREFIX, new byte[0]);
    served().write(SUFFIX, 0, new byte[0]);
    steps.settle();
    steps.advance(1000);
    steps.settle();
    assertEquals(Outcome.ANSWERED, call.outcome());
    assertEquals(Stream.NO_DEADLINE, steps.client.earliestDeadlineNs());
    assertAllServe();
  }

  /** In the midst of a message; the next one on that index begins anew. */
  @Test
  void serverClosesInMidMessage() {
    start(SMALL);
    final Call call = flows.begin();
    final Served served = served();
    served.write(MESSAGE, 0, message(5000, 1));
    steps.stepClient();
    assertTrue(call.stream.incoming.isPartial());
    steps.server.abort("test");
    steps.settle();
    final Unit end = call.take();
    assertEquals(CLOSE, end.flags());
    assertEquals(14, end.code());
    assertEquals(0, end.bytes().length(), "half a message");
    assertNull(call.take());
  }

  @Test
  void serverEndsBeforeTheClientHas() {
    start(SMALL);
    final Call call = flows.begin();
    final Served served = served();
    call.write(IN_WINDOW + 5);
    steps.settle();
    call.write(MESSAGE, message(5000, 1));
    served.write(SUFFIX, 2, new byte[0]);
    assertTrue(served.stream.flow().isSent());
    steps.settle();
    assertEquals(Outcome.ANSWERED, call.outcome());
    assertEquals(2, call.take().code());
    assertEquals(0, served.cancels);
    assertAllServe();
  }

  /** The call that had the index writes, consumes and cancels: to the next one that is nothing. */
  @Test
  void indexServesAnotherCallWhileTheFirstGoesOn() {
    final Call old = flows.begin();
    final Served first = served();
    first.write(IN_UPDATE + 1);
    first.write(SUFFIX, 0, new byte[0]);
    steps.settle();
    assertEquals(Outcome.ANSWERED, old.outcome());
    final Call next = flows.begin();
    assertEquals(old.id & Stream.INDEX_MASK, next.id & Stream.INDEX_MASK);
    assertNotSame(old.stream, next.stream);
    assertSame(next.stream, steps.client.streams.get(next.stream.index()));
    final Served second = served();
    final long before = steps.client.writePosition();
    old.write(3);
    assertEquals(IN_UPDATE + 2, old.takeAll().size());
    old.cancel();
    first.write(3);
    assertEquals(0, first.takeAll().size());
    steps.server.release(first.stream);
    steps.settle();
    assertEquals(before, steps.client.writePosition(), "something was sent");
    assertNull(second.take());
    assertNull(next.take());
    assertEquals(0, second.cancels);
    next.write(2);
    second.write(2);
    steps.settle();
    assertEquals(2, second.takeAll().size());
    assertEquals(2, next.takeAll().size());
    second.write(SUFFIX, 0, new byte[0]);
    steps.settle();
    assertAllServe();
  }

  /** What the server still reads of a call that it has ended is not the next one's. */
  @Test
  void unitsThatCrossTheServersEndAreDropped() {
    final Call call = flows.begin();
    final Served served = served();
    assertTrue(steps.client.driver.tryAcquire());
    served.write(SUFFIX, 0, new byte[0]);
    call.write(3);
    assertTrue(steps.client.driver.releaseAndTell());
    steps.client.driver.drive(); // sends, and reads nothing
    steps.settle();
    assertNull(served.take());
    assertAllServe();
  }

  @Test
  void endOfTheSessionTellsWhatTheServerMayHaveSeen() {
    start(SMALL);
    final Call quiet = flows.begin();
    final Served served = served();
    final Call begun = flows.begin(Stream.NO_DEADLINE, PREFIX | MESSAGE, message(5000, 1));
    final Call unsent = flows.begin();
    final Call cancelled = flows.begin();
    cancelled.cancel();
    served.write(MESSAGE, 0, message(10, 1));
    steps.client.end("test");
    final Call late = flows.begin();
    assertEquals(Outcome.SESSION_ENDED, quiet.outcome());
    assertEquals(MESSAGE, quiet.take().flags(), "it was committed");
    assertEquals(Outcome.SESSION_ENDED, begun.outcome());
    assertEquals(Outcome.NOT_SENT, unsent.outcome());
    assertEquals(Outcome.NOT_SENT, late.outcome());
    assertNull(cancelled.outcome());
    for (final Call call : List.of(quiet, begun, unsent, late)) {
      assertTrue(call.told > 0);
      final int told = call.told;
      call.write(3);
      call.cancel();
      steps.settle();
      assertEquals(told, call.told);
    }
    assertEquals(1, served.cancels);
    assertEquals(
        2, steps.server.unanswered() - steps.server.ending.unconsumed(), "quiet and begun");
    assertEquals(List.of("test"), steps.clientEnds);
  }

  /** Told of its deadline while its cancel is still on the way: not again with the session. */
  @Test
  void callThatHasEndedIsNotToldOfTheSessions() {
    final Call call = flows.begin(steps.nowNs() + 1000, PREFIX, new byte[0]);
    served();
    steps.advance(1000);
    steps.stepClient();
    assertEquals(Outcome.DEADLINE_EXCEEDED, call.outcome());
    final int told = call.told;
    steps.client.end("test");
    assertEquals(told, call.told);
    assertEquals(Outcome.DEADLINE_EXCEEDED, call.outcome());
  }

  @Test
  void clientThatDrainsWaitsForItsFlows() {
    final Call call = flows.begin();
    final Served served = served();
    steps.client.drain();
    steps.settle();
    assertFalse(steps.client.hasEnded());
    served.write(SUFFIX, 0, new byte[0]);
    steps.settle();
    assertEquals(Outcome.ANSWERED, call.outcome());
    assertEquals(List.of("drained"), steps.clientEnds);
  }

  @Test
  void responseThatWasNotToldIsNotTrustedWhenTheSessionFails() {
    final Call call = flows.begin();
    final Call answered = flows.begin();
    steps.settle();
    final Served served = flows.served(0);
    served.write(MESSAGE, 0, message(10, 1));
    steps.settle();
    served.write(MESSAGE, 0, message(10, 2));
    flows.served(1).write(SUFFIX, 0, new byte[0]);
    assertTrue(steps.client.driver.tryAcquire());
    steps.client.work(true);
    steps.client.ending.failed(new InternalError("a fault of the test"));
    steps.client.driver.releaseAndTell();
    assertEquals(1, call.takeAll().size());
    assertEquals(Outcome.SESSION_ENDED, call.outcome());
    assertEquals(0, answered.takeAll().size());
    assertEquals(Outcome.SESSION_ENDED, answered.outcome());
  }

  @Test
  void requestThatWasNotToldIsNotTrustedWhenTheSessionFails() {
    final Call call = flows.begin();
    final Served served = served();
    call.write(1);
    steps.settle();
    call.write(1);
    flows.begin();
    assertTrue(steps.server.driver.tryAcquire());
    steps.server.work(true);
    steps.server.ending.failed(new InternalError("a fault of the test"));
    steps.server.driver.releaseAndTell();
    assertEquals(1, served.takeAll().size());
    assertEquals(1, served.cancels);
    assertTrue(steps.requests.isEmpty(), "there is no request to be seen");
  }

  @Test
  void updateForACallOfOneAnswerEndsTheSession() {
    final SessionSteps.Call call = steps.send(message(10, 1));
    steps.settle();
    final var hostile = steps.hostileServer();
    final int ack = (int) steps.client.writePosition();
    hostile.write(call.stream.id, WINDOW_UPDATE, 0, ack, new byte[8], 0, 8);
    hostile.publish();
    steps.client.driver.service(false);
    assertTrue(steps.client.isPeerAtFault());
  }

  /** What is left to be read of a call that has ended opens no window, and is not counted. */
  @Test
  void whatIsConsumedAfterTheEndIsToldToNobody() {
    final Call call = flows.begin();
    final Served served = served();
    call.write(2 * IN_UPDATE);
    steps.settle();
    served.write(SUFFIX, 0, new byte[0]);
    steps.settle();
    final long before = steps.server.writePosition();
    assertEquals(2 * IN_UPDATE, served.takeAll().size());
    assertEquals(before, steps.server.writePosition());
    assertTrue(steps.server.outbox.isEmpty());
    assertAllServe();
  }
}
