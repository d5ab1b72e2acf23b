package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.SLOT_LENGTH;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;
import static dev.ringfetch.session.SessionSteps.bytes;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Counters;
import dev.ringfetch.counters.Kind;
import dev.ringfetch.counters.Subject;
import dev.ringfetch.session.SessionSteps.Call;
import dev.ringfetch.session.SessionSteps.ServerCall;
import dev.ringfetch.session.SessionSteps.Sizes;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What the two sides of a session and their pollers count. */
class SessionCountersTest {
  private static void assertCounts(long expected, Session session, Counter counter) {
    assertEquals(expected, session.count(counter), session.side() + " " + counter);
  }

  @Test
  void framesAndBytesAreThoseOfTheRings() {
    final SessionSteps steps = new SessionSteps(Sizes.ROOMY);
    final long requestStart = steps.client.writePosition();
    final long responseStart = steps.server.writePosition();
    for (int i = 0; i < 10; i++) {
      steps.send(bytes(32, i)); // a slot
    }
    steps.send(bytes(33, 1)); // two
    steps.send(bytes(3 * 4096, 1)); // a chain of four frames
    steps.answerAll();
    for (final Session session : List.of(steps.client, steps.server)) {
      assertCounts(12, session, Counter.SESSION_CALLS);
      assertCounts(15, session, Counter.SESSION_FRAMES_SENT);
      assertCounts(15, session, Counter.SESSION_FRAMES_RECEIVED);
      assertCounts(0, session, Counter.SESSION_CREDIT_EXHAUSTED);
      assertCounts(0, session, Counter.SESSION_FAULTS_PEER);
      assertCounts(0, session, Counter.SESSION_BYTES_QUEUED);
    }
    final long requests = (steps.client.writePosition() - requestStart) * SLOT_LENGTH;
    final long responses = (steps.server.writePosition() - responseStart) * SLOT_LENGTH;
    assertTrue(requests >= 12 * SLOT_LENGTH + 3 * 4096, "bytes=" + requests);
    assertCounts(requests, steps.client, Counter.SESSION_BYTES_SENT);
    assertCounts(requests, steps.server, Counter.SESSION_BYTES_RECEIVED);
    assertCounts(responses, steps.server, Counter.SESSION_BYTES_SENT);
    assertCounts(responses, steps.client, Counter.SESSION_BYTES_RECEIVED);
  }

  @Test
  void whatFindsTheRingFullIsQueuedUntilItIsSent() {
    final SessionSteps steps = new SessionSteps(new Sizes(128, 64, 8, 1000)); // two slots
    final List<Call> calls = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      calls.add(steps.send(bytes(20, i)));
    }
    assertCounts(2, steps.client, Counter.SESSION_FRAMES_SENT);
    assertCounts(1, steps.client, Counter.SESSION_CREDIT_EXHAUSTED);
    assertCounts(60, steps.client, Counter.SESSION_BYTES_QUEUED);
    calls.get(4).cancel(); // not a byte of it was seen
    assertCounts(40, steps.client, Counter.SESSION_BYTES_QUEUED);
    steps.answerAll();
    assertCounts(4, steps.client, Counter.SESSION_FRAMES_SENT);
    assertCounts(0, steps.client, Counter.SESSION_BYTES_QUEUED);
    assertCounts(5, steps.client, Counter.SESSION_CALLS);
    assertCounts(4, steps.server, Counter.SESSION_CALLS);
  }

  @Test
  void nothingIsQueuedInASessionThatHasEnded() {
    final SessionSteps steps = new SessionSteps(new Sizes(128, 64, 8, 1000));
    for (int i = 0; i < 5; i++) {
      steps.send(bytes(20, i));
    }
    steps.client.end("test");
    assertCounts(0, steps.client, Counter.SESSION_BYTES_QUEUED);
  }

  @Test
  void messagesThatTheWindowHoldsBackAreQueued() {
    final SessionSteps steps = new SessionSteps(FlowSteps.WIDE);
    final FlowSteps flows = new FlowSteps(steps);
    final FlowSteps.Call call = flows.begin();
    call.write(FlowSteps.IN_WINDOW + 3);
    steps.settle();
    final long cost = FlowSteps.LENGTH + SLOT_LENGTH;
    assertCounts(3 * cost, steps.client, Counter.SESSION_BYTES_QUEUED);
    assertCounts(FlowSteps.IN_WINDOW * cost, steps.server, Counter.SESSION_BYTES_HELD);
    final FlowSteps.Served served = flows.served();
    while (!served.takeAll().isEmpty()) {
      steps.settle();
    }
    assertCounts(0, steps.client, Counter.SESSION_BYTES_QUEUED);
    final long held = steps.server.count(Counter.SESSION_BYTES_HELD);
    assertTrue(held < FlowSteps.IN_UPDATE * cost, "less than is worth telling: " + held);
  }

  @Test
  void whatACancelledStreamHadQueuedIsNot() {
    final SessionSteps steps = new SessionSteps(FlowSteps.WIDE);
    final FlowSteps flows = new FlowSteps(steps);
    final FlowSteps.Call call = flows.begin();
    call.write(FlowSteps.IN_WINDOW + 3);
    steps.settle();
    call.cancel();
    steps.settle();
    assertCounts(0, steps.client, Counter.SESSION_BYTES_QUEUED);
    call.write(1); // which nobody takes
    steps.settle();
    assertCounts(0, steps.client, Counter.SESSION_BYTES_QUEUED);
    final FlowSteps.Call other = flows.begin();
    steps.settle();
    final FlowSteps.Served served = flows.served(1);
    served.write(FlowSteps.IN_WINDOW + 1);
    steps.settle();
    final long cost = FlowSteps.LENGTH + SLOT_LENGTH;
    assertCounts(cost, steps.server, Counter.SESSION_BYTES_QUEUED);
    other.cancel();
    steps.settle();
    assertCounts(0, steps.server, Counter.SESSION_BYTES_QUEUED);
  }

  /** A stream's unit that is on its way counts once, as long as it is not sent. */
  @Test
  void messagesThatFindTheRingFullAreQueued() {
    final SessionSteps steps = new SessionSteps(new Sizes(128, 64, 8, 1000)); // two slots
    final FlowSteps flows = new FlowSteps(steps);
    final FlowSteps.Call call = flows.begin();
    for (int i = 0; i < 3; i++) {
      call.write(MESSAGE, bytes(20, i)); // of which one has room
    }
    assertCounts(2L * (20 + SLOT_LENGTH), steps.client, Counter.SESSION_BYTES_QUEUED);
    steps.settle();
    assertCounts(0, steps.client, Counter.SESSION_BYTES_QUEUED);
  }

  /** A cancel has no bytes, though the buffer of its stream still has those of the request. */
  @Test
  void cancelsThatFindTheRingFullAreNoBytes() {
    final SessionSteps steps = new SessionSteps(new Sizes(128, 64, 8, 1000));
    final Call call = steps.send(bytes(20, 1));
    steps.send(bytes(20, 2));
    call.cancel();
    assertCounts(1, steps.client, Counter.SESSION_CREDIT_EXHAUSTED);
    assertCounts(0, steps.client, Counter.SESSION_BYTES_QUEUED);
    steps.answerAll();
    assertCounts(3, steps.client, Counter.SESSION_FRAMES_SENT);
  }

  @Test
  void wakeUpsAreThoseOfTheDoorbells() {
    final SessionSteps steps = new SessionSteps(Sizes.ROOMY);
    final long byClient = steps.fabric.client().ringsSent();
    final long byServer = steps.fabric.server().ringsSent();
    for (int i = 0; i < 3; i++) {
      steps.send(bytes(1, 1));
      steps.answerAll(); // and sleeps
    }
    final long rungByClient = steps.fabric.client().ringsSent() - byClient;
    final long rungByServer = steps.fabric.server().ringsSent() - byServer;
    assertTrue(rungByClient >= 3 && rungByServer >= 3, rungByClient + " and " + rungByServer);
    assertCounts(rungByClient, steps.client, Counter.SESSION_WAKEUPS_SENT);
    assertCounts(rungByServer, steps.server, Counter.SESSION_WAKEUPS_SENT);
    assertTrue(steps.server.count(Counter.SESSION_WAKEUPS_RECEIVED) >= 3, "heard by the server");
    assertTrue(steps.client.count(Counter.SESSION_WAKEUPS_RECEIVED) >= 3, "heard by the client");
    assertTrue(steps.serverPoller.tally().get(Counter.POLLER_WAKEUPS) >= 3, "slept");
    assertTrue(steps.serverPoller.tally().get(Counter.POLLER_EVENTS) >= 3, "told");
  }

  @Test
  void aPeerThatBreaksARuleIsCounted() {
    final SessionSteps steps = new SessionSteps(Sizes.ROOMY);
    steps.hostileClient().write(1, SUFFIX, 0, 0, new byte[1], 0, 1);
    new FabricEvents(steps.server).onDoorbell();
    steps.settle();
    assertTrue(steps.server.isPeerAtFault());
    assertCounts(1, steps.server, Counter.SESSION_FAULTS_PEER);
    assertCounts(0, steps.client, Counter.SESSION_FAULTS_PEER);
  }

  @Test
  void aPollerListsItsSessionsUntilTheyEnd() {
    final SessionSteps steps = new SessionSteps(Sizes.ROOMY);
    final Counters counters = steps.clientPoller.counters();
    final List<Subject> listed = counters.subjects();
    assertEquals(2, listed.size(), "both sides, of one context");
    assertEquals(List.of(Kind.SESSION, Kind.SESSION), listed.stream().map(Subject::kind).toList());
    assertEquals("client " + steps.client.describe(), listed.get(0).label());
    assertEquals("server " + steps.server.describe(), listed.get(1).label());
    assertEquals(1, steps.clientPoller.tally().get(Counter.POLLER_SESSIONS));
    steps.send(bytes(1, 1));
    assertEquals(1, listed.get(0).value(Counter.SESSION_CALLS));
    steps.answerAll();
    steps.clientPoller.execute(() -> {});
    steps.settle();
    assertEquals(1, steps.clientPoller.tally().get(Counter.POLLER_TASKS));
    steps.client.end("test");
    steps.settle();
    assertEquals(List.of(), counters.subjects());
    assertEquals(0, steps.clientPoller.tally().get(Counter.POLLER_SESSIONS));
    assertEquals(0, steps.clientPoller.tally().get(Counter.POLLER_SESSIONS_POLLED));
    assertEquals(2, counters.total(Counter.SESSION_CALLS), "what has ended counts");
  }

  @Test
  void sessionsThatArePolledAreCounted() throws Exception {
    final SessionSteps steps = new SessionSteps(Sizes.ROOMY, 1_000_000);
    steps.send(bytes(1, 1));
    steps.serverPoller.doWork(); // which hears the ring
    new FabricEvents(steps.server).onDoorbell();
    assertEquals(1, steps.serverPoller.tally().get(Counter.POLLER_SESSIONS_POLLED));
    steps.serverPoller.doWork();
    steps.requests.forEach(ServerCall::echo);
    steps.advance(2_000_000);
    steps.serverPoller.doWork();
    assertEquals(0, steps.serverPoller.tally().get(Counter.POLLER_SESSIONS_POLLED));
  }
}
