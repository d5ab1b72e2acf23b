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

/** How a client with memory of its own goes to sleep, and what comes in between. */
class SessionFetchSleepTest {
  private static final int RING_LENGTH = 64 * FrameDescriptor.SLOT_LENGTH;

  private RemoteSteps steps;

  /** So many requests are with the server's handlers, and the client has nothing under way. */
  private void begin(ReplyPolicy mode, int requests) throws IOException {
    steps = new RemoteSteps(mode, RING_LENGTH);
    for (int i = 0; i < requests; i++) {
      steps.send();
    }
    steps.cards();
    while (steps.requests.size() < requests) {
      steps.serverRound();
    }
    steps.clientRound();
    steps.cards();
  }

  @Test
  void whoIsAwakeDoesNotSettle() throws IOException {
    begin(ReplyPolicy.PUSH, 1);
    assertFalse(steps.client.inbox.isArmed());
    assertFalse(steps.client.inbox.isSettling());
  }

  /** It may have been for its room that the server waits. */
  @ParameterizedTest
  @EnumSource
  void whoGoesToSleepTellsWhatItHasConsumed(ReplyPolicy mode) throws IOException {
    begin(mode, 2);
    steps.respond();
    steps.answers(1);
    assertTrue(steps.server.writer.unconsumed() > 0, "too little to be told of");
    steps.clientSleeps();
    assertEquals(0, steps.server.writer.unconsumed());
  }

  /** What comes while the server is being told: the client is awake, and waits for the rest. */
  @Test
  void whatComesWhileItSettlesKeepsItAwake() throws IOException {
    begin(ReplyPolicy.PUSH, 2);
    steps.spinTimeIsOver();
    steps.clientRound();
    assertTrue(steps.client.inbox.isSettling());
    steps.respond(); // neither the line nor the read has come
    for (int rounds = 0; steps.answered == 0; rounds++) {
      assertTrue(rounds < 100);
      assertTrue(steps.card() || rounds > 0);
      steps.client.driver.drive();
      steps.client.driver.service(false);
    }
    assertFalse(steps.client.inbox.isArmed());
    steps.respond();
    steps.answers(2);
  }

  /** A read that was posted before the server is told would find nothing too early. */
  @Test
  void readFollowsTheWriteThatFoundNoRoom() throws IOException {
    begin(ReplyPolicy.PUSH, 1);
    final long writes = steps.clientPair.lineWrites();
    steps.spinTimeIsOver();
    steps.clientPair.refuse(1);
    steps.clientRound();
    assertTrue(steps.client.inbox.isSettling());
    assertEquals(writes, steps.clientPair.lineWrites());
    assertEquals(0, steps.clientPair.ringReads());
    steps.clientSleeps();
    assertEquals(writes + 1, steps.clientPair.lineWrites());
    assertEquals(1, steps.clientPair.ringReads());
  }

  @Test
  void readThatFoundNoRoomIsPostedAgain() throws IOException {
    begin(ReplyPolicy.PUSH, 1);
    steps.clientPair.refuseUnlessPolledAfter(1); // the line
    steps.clientSleeps();
    assertEquals(1, steps.clientPair.ringReads());
    steps.respond();
    steps.cards();
    steps.client.poller().serveNested();
    steps.answers(1);
  }

  /** Of a long answer the last read has the beginning only, and the server does not ring. */
  @Test
  void whatThatReadHasBegunKeepsItAwake() throws IOException {
    boolean more = true;
    for (int done = 0; more; done++) {
      begin(ReplyPolicy.FETCH, 1);
      steps.spinTimeIsOver();
      steps.clientRound();
      assertTrue(steps.client.inbox.isSettling());
      for (int card = 0; card < done; card++) {
        more = steps.card();
      }
      steps.respond(1_000);
      steps.serverSleeps();
      for (int rounds = 0; steps.answered == 0; rounds++) {
        final int after = done;
        assertTrue(rounds < 20, () -> "the answer does not come, after cards=" + after);
        steps.cards();
        steps.client.poller().serveNested();
      }
    }
  }

  /** Rounds for other reasons look at nothing. */
  @Test
  void whoSleepsReadsNoMore() throws IOException {
    begin(ReplyPolicy.FETCH, 1);
    final long reads = steps.clientPair.ringReads() + 2; // one more, and the last
    steps.clientSleeps();
    assertEquals(reads, steps.clientPair.ringReads());
    for (int i = 0; i < 3; i++) {
      steps.client.driver.requestRound();
      steps.cards();
    }
    assertTrue(steps.client.inbox.isArmed());
    assertEquals(reads, steps.clientPair.ringReads());
  }

  /** The poller comes for the ring while another thread has the session. */
  @Test
  void whatItWasRungForIsFoundBeforeItIsAsleep() throws IOException {
    begin(ReplyPolicy.PUSH, 1);
    steps.spinTimeIsOver();
    steps.clientRound();
    steps.cards();
    assertEquals(0, steps.client.driver.service(false), "the read has found nothing");
    steps.respond();
    steps.cards();
    assertTrue(steps.client.driver.tryAcquire());
    assertEquals(SessionDriver.NOT_OWNER, steps.client.driver.service(false));
    assertFalse(steps.client.driver.releaseAndTell());
    assertFalse(steps.client.retire(), "an answer is there");
    steps.clientRound();
    assertEquals(1, steps.answered);
  }

  /** With no call under way, too: of DRAIN nothing else would tell. */
  @ParameterizedTest
  @EnumSource
  void whatItWasRungForIsFoundWhenNothingIsExpected(ReplyPolicy mode) throws IOException {
    begin(mode, 1);
    steps.respond();
    steps.answers(1);
    steps.spinTimeIsOver();
    steps.clientRound();
    assertTrue(PollerSteps.isIdle(steps.client.poller()));
    steps.mayEnd();
    steps.server.drain();
    steps.cards();
    assertTrue(steps.client.driver.tryAcquire());
    assertEquals(SessionDriver.NOT_OWNER, steps.client.driver.service(false));
    assertFalse(steps.client.driver.releaseAndTell());
    assertFalse(steps.client.retire(), "DRAIN is there");
    steps.client.poller().activate(steps.client.entry);
    steps.clientRound();
    assertTrue(steps.client.isDraining());
  }

  /** The read that finds no room leaves nothing under way; only what was done makes some. */
  @Test
  void fullSendQueueIsPolledUntilThereIsRoom() throws IOException {
    for (int posted = 0; posted < 2; posted++) {
      for (final ReplyPolicy mode : new ReplyPolicy[] {ReplyPolicy.PUSH, ReplyPolicy.FETCH}) {
        steps = new RemoteSteps(mode, RING_LENGTH);
        steps.clientPair.refuseUnlessPolledAfter(posted);
        steps.send();
        steps.clientRound();
        steps.clientRound();
        steps.cards();
        steps.serverRound();
        assertEquals(1, steps.requests.size(), mode + " after " + posted);
        steps.respond();
        steps.answers(1);
        assertEquals(0, steps.client.count(Counter.SESSION_WAKEUPS_SENT));
      }
    }
  }

  /**
   * A cancel crosses the server's way to sleep, at any of its steps: the client stays until the
   * server has it, or is known to sleep and is rung for.
   */
  @ParameterizedTest
  @EnumSource
  void cancelIsConsumedThoughTheServerGoesToSleep(ReplyPolicy mode) throws IOException {
    boolean more = true;
    for (int done = 0; more; done++) {
      begin(mode, 0);
      steps.mayEnd();
      steps.client.cancel(steps.send());
      for (int card = 0; card < done; card++) {
        more = steps.card();
      }
      for (int i = 0; i < 3; i++) {
        steps.spinTimeIsOver();
        steps.clientRound();
      }
      steps.serverSleeps();
      for (int rounds = 0; steps.client.writePosition() != steps.server.pollPosition(); rounds++) {
        final int after = done;
        assertTrue(rounds < 20, () -> "nobody rings, after cards=" + after);
        steps.cards();
        steps.client.poller().serveNested();
        steps.spinTimeIsOver();
        steps.server.poller().serveNested();
      }
    }
  }
}
