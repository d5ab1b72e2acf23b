package dev.ringfetch.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.session.remote.ReplyPolicy;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** Work requests of sessions whose answers come in datagrams: exactly how many, and when. */
class SessionDatagramTest {
  private static final int SLOTS = 64;
  private static final int RING_LENGTH = SLOTS * FrameDescriptor.SLOT_LENGTH;
  private static final int CALLS = 10 * SLOTS;
  private static final int SMALL = 20; // bytes
  private static final int LONG = 1_000; // more than a datagram's

  private final RemoteSteps steps = new RemoteSteps(ReplyPolicy.DATAGRAM, RING_LENGTH);

  SessionDatagramTest() throws IOException {}

  /** A call whose answer comes without that any time passes. */
  private void call(int length) throws IOException {
    final int before = steps.answered;
    steps.exchange(length);
    while (steps.answered == before) {
      steps.clientRound();
      assertTrue(steps.card() || steps.answered > before, "the answer does not come");
    }
    steps.cards();
    steps.serverRound();
  }

  private void assertHints(long sent, long taken, long dropped) {
    assertEquals(sent, steps.server.count(Counter.SESSION_HINTS_SENT), "sent");
    assertEquals(taken, steps.client.count(Counter.SESSION_HINTS_TAKEN), "taken");
    assertEquals(dropped, steps.client.count(Counter.SESSION_HINTS_DROPPED), "dropped");
  }

  private void assertReads(long reads) {
    assertEquals(reads, steps.clientPair.ringReads());
    assertEquals(reads, steps.clientPair.lineReads());
    assertEquals(reads, steps.client.count(Counter.SESSION_FETCHES));
  }

  @Test
  void callIsOneWriteAndOneSend() throws IOException {
    for (int i = 0; i < CALLS; i++) {
      call(SMALL);
    }
    assertEquals(CALLS, steps.clientPair.ringWrites());
    assertTrue(steps.clientPair.lineWrites() <= 2 + CALLS / (SLOTS / 4));
    assertReads(0);
    assertEquals(CALLS, steps.serverPair.datagrams());
    assertEquals(0, steps.serverPair.ringWrites() + steps.serverPair.lineWrites());
    assertEquals(0, steps.serverPair.ringReads() + steps.serverPair.lineReads());
    assertEquals(0, steps.client.count(Counter.SESSION_WAKEUPS_SENT));
    assertEquals(0, steps.server.count(Counter.SESSION_WAKEUPS_SENT));
    assertHints(CALLS, CALLS, 0);
  }

  @Test
  void lostAnswerIsReadWhenItsTimeIsOver() throws IOException {
    call(SMALL);
    steps.serverPair.lose(1);
    steps.exchange(SMALL);
    steps.look();
    assertReads(0);
    steps.hintIsOverdue();
    steps.look();
    assertEquals(2, steps.answered);
    assertReads(1);
    assertEquals(0, steps.client.count(Counter.SESSION_FETCH_MISSES));
    call(SMALL);
    assertReads(1);
    assertHints(3, 2, 0);
  }

  /** A caller that waits for a slow handler reads once in a while. */
  @Test
  void waitBeginsAnewAfterARead() throws IOException {
    steps.send();
    steps.cards();
    for (int i = 1; i <= 3; i++) {
      steps.clientRound();
      steps.hintIsOverdue();
      steps.look();
      steps.look();
      assertReads(i);
    }
    assertEquals(3, steps.client.count(Counter.SESSION_FETCH_MISSES));
  }

  @Test
  void readAnswerIsNotTakenAgain() throws IOException {
    steps.clientPair.holdDatagrams(true);
    steps.exchange(SMALL);
    steps.look();
    steps.hintIsOverdue();
    steps.look();
    assertEquals(1, steps.answered);
    steps.clientPair.holdDatagrams(false);
    steps.look();
    assertEquals(1, steps.answered);
    assertHints(1, 0, 1);
    call(SMALL);
    assertHints(2, 1, 1);
  }

  /** After a lost one, those behind it are of no use until it was read. */
  @Test
  void answersBehindALostOneComeByOneRead() throws IOException {
    for (int i = 0; i < 3; i++) {
      steps.send();
    }
    while (steps.requests.size() < 3) {
      assertTrue(steps.card());
      steps.serverRound();
    }
    steps.serverPair.lose(1);
    for (int i = 0; i < 3; i++) {
      steps.respond();
    }
    steps.look();
    assertEquals(0, steps.answered);
    assertHints(3, 0, 2);
    steps.hintIsOverdue();
    steps.look();
    assertEquals(3, steps.answered);
    assertReads(1);
  }

  /** Its beginning says how much there is to read. */
  @Test
  void longAnswerIsReadAtOnce() throws IOException {
    call(LONG);
    assertReads(1);
    assertHints(1, 1, 0);
    call(SMALL);
    assertReads(1);
  }

  @Test
  void fullSendQueueMakesNoHint() throws IOException {
    steps.serverPair.refuse(1);
    steps.exchange(SMALL);
    steps.look();
    assertEquals(0, steps.answered);
    assertEquals(1, steps.server.count(Counter.SESSION_HINTS_UNSENT));
    steps.hintIsOverdue();
    steps.look();
    assertEquals(1, steps.answered);
    assertHints(0, 0, 0);
  }

  @Test
  void whoSleepsIsPushedTo() throws IOException {
    call(SMALL);
    steps.send();
    steps.cards();
    steps.serverRound();
    steps.clientRound();
    steps.spinTimeIsOver();
    do {
      steps.clientRound();
      steps.cards();
    } while (!steps.client.inbox.isArmed() || steps.client.inbox.isSettling());
    steps.respond();
    assertEquals(1, steps.serverPair.ringWrites());
    assertEquals(1, steps.server.count(Counter.SESSION_WAKEUPS_SENT));
    assertHints(1, 1, 0);
    steps.look();
    steps.client.poller().serveNested();
    while (steps.answered < 2) {
      steps.clientRound();
    }
    steps.cards();
    call(SMALL);
    assertHints(2, 2, 0);
  }

  /** Handlers go on answering for a server that sleeps: what comes behind them is noticed. */
  @Test
  void answersDoNotHideThatTheServerSleeps() throws IOException {
    final int held = 8;
    for (int i = 0; i < held; i++) {
      steps.send();
    }
    while (steps.requests.size() < held) {
      assertTrue(steps.card());
      steps.serverRound();
    }
    steps.spinTimeIsOver();
    steps.serverRound();
    assertTrue(steps.server.inbox.isArmed());
    steps.respond();
    steps.look();
    steps.send();
    for (int i = 1; i < held && steps.client.count(Counter.SESSION_WAKEUPS_SENT) == 0; i++) {
      steps.pass(SessionContext.HINT_WAIT_NS_DEFAULT / 4);
      steps.respond();
      steps.look();
    }
    assertEquals(1, steps.client.count(Counter.SESSION_WAKEUPS_SENT));
    assertTrue(steps.requests.size() > 1, "not when handlers had nothing more to say");
  }

  /** Where there are no datagrams, answers are read. */
  @Test
  void withoutDatagramsItFetches() throws IOException {
    final RemoteSteps plain = new RemoteSteps(ReplyPolicy.DATAGRAM, RING_LENGTH, false);
    plain.send();
    while (plain.requests.isEmpty()) {
      assertTrue(plain.card());
      plain.serverRound();
    }
    plain.respond();
    while (plain.answered == 0) {
      plain.clientRound();
      assertTrue(plain.card() || plain.answered > 0, "the answer does not come");
    }
    assertEquals(1, plain.clientPair.ringReads());
    assertEquals(0, plain.serverPair.datagrams());
  }
}
