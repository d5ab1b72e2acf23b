package dev.ringfetch.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.session.poller.PollerSteps;
import dev.ringfetch.session.remote.ReplyPolicy;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A client that reads as late as its answers come. */
final class SessionFetchPaceTest {
  private static final int RING_LENGTH = 8 * 1024;
  private static final long ROUND_TRIP_NS = 4_096;
  private static final long STEP_NS = ROUND_TRIP_NS / 8;

  private final RemoteSteps steps = new RemoteSteps(ReplyPolicy.FETCH, RING_LENGTH);

  SessionFetchPaceTest() throws IOException {}

  private long reads() {
    return steps.clientPair.ringReads();
  }

  /** A read is there and back. */
  private void roundTrip() throws IOException {
    steps.cards();
    steps.pass(ROUND_TRIP_NS);
    steps.clientRound();
  }

  /** Requests reach the server. */
  private void send(int requests) throws IOException {
    for (int i = 0; i < requests; i++) {
      steps.send();
    }
    steps.cards();
    steps.serverRound();
  }

  /** A call whose first read comes when it is due, which is too early. */
  private void lateCall(long delayNs) throws IOException {
    final int before = steps.answered;
    send(1);
    if (delayNs > 0) { // otherwise it is under way
      steps.pass(delayNs);
      steps.clientRound();
    }
    roundTrip();
    steps.respond();
    roundTrip();
    assertEquals(before + 1, steps.answered);
  }

  /** The one read of a call is posted after so long and not before, and finds its answer. */
  private void assertReadAfter(long delayNs) throws IOException {
    final int before = steps.answered;
    final long reads = reads();
    steps.pass(delayNs - 1);
    steps.clientRound();
    assertEquals(reads, reads(), "too early");
    steps.pass(1);
    steps.clientRound();
    assertEquals(reads + 1, reads(), "too late");
    roundTrip();
    assertEquals(before + 1, steps.answered);
    assertEquals(reads + 1, reads());
  }

  @Test
  void readWaitsWhereOneWasTooEarly() throws IOException {
    lateCall(0);
    assertEquals(1, steps.client.count(Counter.SESSION_FETCH_MISSES));
    send(1);
    steps.respond();
    assertReadAfter(STEP_NS);
    assertEquals(1, steps.client.count(Counter.SESSION_FETCH_MISSES));
  }

  @Test
  void whoExpectsMoreReadsOn() throws IOException {
    lateCall(0);
    send(2);
    steps.respond();
    steps.pass(STEP_NS);
    steps.clientRound();
    final long reads = reads();
    roundTrip();
    assertEquals(2, steps.answered);
    assertEquals(reads + 1, reads(), "at once");
    steps.respond();
    roundTrip();
    assertEquals(3, steps.answered);
    assertEquals(reads + 1, reads());
  }

  @Test
  void delayIsNotLessThanTheProcessTime() throws IOException {
    for (int i = 0; i < 8; i++) {
      lateCall(i * STEP_NS);
    }
    final long processNs = ROUND_TRIP_NS / 2;
    send(1);
    steps.pass(processNs);
    steps.respond();
    assertReadAfter(ROUND_TRIP_NS - processNs);
    final long toldNs = processNs + 16 * 15 / 2; // the middle of what is told alike
    send(1);
    steps.respond();
    assertReadAfter(ROUND_TRIP_NS - (ROUND_TRIP_NS - toldNs) / 8);
  }

  @Test
  void answerOfWhichTheBeginningIsReadIsNotLate() throws IOException {
    lateCall(0);
    send(1);
    steps.respond(1_000);
    steps.pass(STEP_NS);
    steps.clientRound();
    roundTrip();
    assertEquals(1, steps.answered, "it is longer than the window");
    roundTrip();
    assertEquals(2, steps.answered);
    send(1);
    steps.respond();
    assertReadAfter(STEP_NS * 7 / 8);
  }

  /** It brings the credit that the rest of the request waits for. */
  @Test
  void requestThatDoesNotFitIsReadForAtOnce() throws IOException {
    lateCall(0);
    final long reads = reads();
    steps.send(RING_LENGTH + 100, Stream.NO_DEADLINE);
    assertTrue(steps.client.outbox.isBlocked());
    assertEquals(reads + 1, reads());
    for (int rounds = 0; steps.requests.isEmpty(); rounds++) {
      assertTrue(rounds < 20, "the rest does not come");
      roundTrip();
      steps.serverRound();
    }
    steps.respond();
    steps.answers(2);
    send(1);
    steps.respond();
    assertReadAfter(STEP_NS);
  }

  /** It is rung when its line was read, however often nothing was found before. */
  @Test
  void serverThatSleepsIsNotLate() throws IOException {
    lateCall(0);
    for (int calls = 0; calls < 10; calls++) {
      steps.serverSleeps();
      assertTrue(steps.server.inbox.isArmed());
      steps.send();
      steps.cards();
      steps.pass(STEP_NS);
      steps.clientRound();
      final long rings = steps.client.count(Counter.SESSION_WAKEUPS_SENT);
      for (int rounds = 0; steps.client.count(Counter.SESSION_WAKEUPS_SENT) == rings; rounds++) {
        assertTrue(rounds < 20, "it is not rung");
        roundTrip();
      }
      steps.cards();
      steps.server.poller().serveNested(); // which looks at its doorbell
      steps.serverRound();
      steps.respond();
      roundTrip(); // of a read that was posted before
      roundTrip();
      assertEquals(2 + calls, steps.answered);
    }
    send(1);
    steps.respond();
    assertReadAfter(STEP_NS);
  }

  @Test
  void deadlineIsReadFor() throws IOException {
    for (int i = 0; i < 64; i++) {
      lateCall(i * STEP_NS);
    }
    final long reads = reads();
    steps.send(steps.nowNs() + 4 * ROUND_TRIP_NS);
    steps.cards();
    steps.serverRound();
    steps.respond();
    steps.pass(2 * ROUND_TRIP_NS - 1);
    steps.clientRound();
    assertEquals(reads, reads());
    steps.pass(1);
    steps.clientRound();
    assertEquals(reads + 1, reads());
    roundTrip();
    assertEquals(65, steps.answered);
  }

  @Test
  void streamIsNotLate() throws IOException {
    lateCall(0);
    final ClientStream stream = steps.client.open();
    final int whole = FrameDescriptor.PREFIX | FrameDescriptor.MESSAGE | FrameDescriptor.SUFFIX;
    stream.prepareFlow(() -> {}, Stream.NO_DEADLINE, 1024, FlowSteps.unit(whole, 5, new byte[20]));
    steps.client.send(stream);
    steps.cards();
    steps.serverRound();
    steps.pass(STEP_NS);
    steps.clientRound();
    roundTrip();
    steps.respond();
    roundTrip();
    assertEquals(0, steps.client.callCount());
    send(1);
    steps.respond();
    assertReadAfter(STEP_NS);
  }

  @Test
  void cancelThatIsConfirmedSaysNothing() throws IOException {
    for (int i = 0; i < 8; i++) {
      lateCall(i * STEP_NS);
    }
    final ClientStream stream = steps.send();
    steps.cards();
    steps.serverRound();
    steps.client.cancel(stream);
    steps.cards();
    steps.serverRound();
    steps.server.release(steps.requests.remove(0));
    steps.pass(ROUND_TRIP_NS);
    steps.clientRound();
    roundTrip();
    assertEquals(0, steps.client.callCount());
    send(1);
    steps.respond();
    assertReadAfter(ROUND_TRIP_NS);
  }

  @Test
  void whoLeavesWhereNobodyPollsReadsBefore() throws IOException {
    lateCall(0);
    steps.spinTimeIsOver();
    steps.clientRound();
    assertTrue(PollerSteps.isIdle(steps.client.poller()));
    final long reads = reads();
    send(1);
    assertEquals(reads + 1, reads(), "with the request");
    steps.respond();
    roundTrip();
    roundTrip();
    assertEquals(2, steps.answered);
    send(1);
    steps.respond();
    assertReadAfter(STEP_NS);
  }

  /** Its first read is late for what comes after. */
  @Test
  void whoWasAboutToSleepIsPolledOn() throws IOException {
    lateCall(0);
    send(1);
    steps.clientRound();
    steps.spinTimeIsOver();
    steps.clientRound();
    assertTrue(steps.client.inbox.isSettling());
    steps.respond();
    roundTrip();
    assertEquals(2, steps.answered);
    assertFalse(steps.client.inbox.isArmed());
    send(1);
    steps.respond();
    assertReadAfter(STEP_NS); // the server has had it for longer
  }

  @Test
  void answerOfWhichALaterReadFindsTheBeginningIsLate() throws IOException {
    send(1);
    roundTrip();
    steps.respond(1_000);
    roundTrip();
    assertEquals(0, steps.answered, "it is longer than the window");
    steps.answers(1);
    send(1);
    steps.respond();
    assertReadAfter(STEP_NS);
  }

  @ParameterizedTest
  @EnumSource(names = {"PUSH", "DATAGRAM"})
  void whoseAnswersComeByThemselvesDoesNotReadBeforeLeaving(ReplyPolicy mode) throws IOException {
    final RemoteSteps other = new RemoteSteps(mode, RING_LENGTH);
    other.send();
    other.cards();
    other.serverRound();
    other.respond();
    other.answers(1);
    other.spinTimeIsOver();
    other.clientRound();
    assertTrue(PollerSteps.isIdle(other.client.poller()));
    final long reads = other.clientPair.ringReads();
    other.send();
    other.cards();
    assertEquals(reads, other.clientPair.ringReads());
  }
}
