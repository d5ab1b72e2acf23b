package dev.ringfetch.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.ring.ProcessTime;
import dev.ringfetch.session.remote.RemoteSide;
import dev.ringfetch.session.remote.ReplyChoice;
import dev.ringfetch.session.remote.ReplyPolicy;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A client that turns from fetching to being pushed to, and back. */
final class SessionReplyTest {
  private static final int RING_LENGTH = 8 * 1024;
  private static final int MANY = 64 * 64 * ReplyChoice.TRIAL_CALLS;
  private static final long SLOW_NS = 9_000;
  private static final long FAST_NS = 1_000;

  private final RemoteSteps steps = new RemoteSteps(ReplyPolicy.ADAPTIVE, RING_LENGTH);

  SessionReplyTest() throws IOException {}

  private boolean fetches() {
    return RemoteSide.fetches(steps.client.carrier);
  }

  /** So many requests reach the server. */
  private void send(int requests) throws IOException {
    for (int i = 0; i < requests; i++) {
      steps.send();
    }
    steps.cards();
    steps.serverRound();
  }

  /** The server answers a request, and the client has just taken the answer. */
  private void answerOne(long ns) throws IOException {
    final int answered = steps.answered;
    steps.pass(ns);
    steps.respond();
    for (int rounds = 0; steps.answered == answered; rounds++) {
      assertTrue(rounds < 10, "the answer does not come");
      steps.cards();
      steps.serverRound();
      steps.clientRound();
    }
  }

  /** Calls until the client has turned, with so many other calls under way all the time. */
  private void turn(int others, long fetchNs, long pushNs) throws IOException {
    final boolean before = fetches();
    send(others - steps.requests.size());
    for (int calls = 0; calls < MANY; calls++) {
      send(1);
      answerOne(before ? fetchNs : pushNs);
      if (fetches() != before) {
        return;
      }
    }
    throw new AssertionError("it has not turned");
  }

  /** The client takes what it is owed, while the server does nothing. */
  private void takeAll(int owed) throws IOException {
    final int expected = steps.answered + owed;
    for (int rounds = 0; steps.answered < expected; rounds++) {
      assertTrue(rounds < 20, () -> "missing: " + (expected - steps.answered));
      assertFalse(steps.client.inbox.isArmed(), "it goes to sleep, which brings all");
      steps.cards();
      steps.clientRound();
    }
  }

  /** The window of the first read is four slots: the client has to read on. */
  @ParameterizedTest
  @ValueSource(ints = {1, 4, 5, 40})
  void whatWasStoredBeforeTheServerKnewIsRead(int others) throws IOException {
    turn(others, SLOW_NS, FAST_NS);
    assertFalse(fetches());
    final long pushes = steps.serverPair.ringWrites();
    for (int i = 0; i < others; i++) {
      steps.respond(); // neither the line nor the read has come
    }
    steps.serverSleeps();
    assertTrue(steps.server.inbox.isArmed(), "it sleeps, and looks at nothing any more");
    takeAll(others);
    assertEquals(pushes, steps.serverPair.ringWrites());
    assertEquals(1, steps.client.count(Counter.SESSION_REPLY_TURNS));
  }

  @Test
  void whatIsStoredAfterwardsIsPushedOnce() throws IOException {
    turn(1, SLOW_NS, FAST_NS);
    for (int rounds = 0; rounds < 10; rounds++) { // until a read has found nothing
      steps.cards();
      steps.clientRound();
    }
    final long reads = steps.clientPair.ringReads();
    final long pushes = steps.serverPair.ringWrites();
    steps.respond();
    assertEquals(pushes + 1, steps.serverPair.ringWrites());
    takeAll(1);
    assertEquals(reads, steps.clientPair.ringReads(), "reads after the turn");
  }

  @Test
  void turnsBackWhenThatIsFaster() throws IOException {
    turn(1, SLOW_NS, FAST_NS);
    for (int calls = 0; calls < ReplyChoice.TRIAL_CALLS; calls++) {
      send(1);
      answerOne(FAST_NS);
    }
    assertFalse(fetches(), "kept");
    turn(1, FAST_NS, 4 * SLOW_NS);
    assertTrue(fetches());
    send(1);
    answerOne(FAST_NS);
    final long pushes = steps.serverPair.ringWrites();
    send(1);
    answerOne(FAST_NS);
    assertEquals(pushes, steps.serverPair.ringWrites());
    assertEquals(2, steps.client.count(Counter.SESSION_REPLY_TURNS));
  }

  @Test
  void anAnswerSaysHowLongTheServerHasHadTheRequest() throws IOException {
    final long processNs = 40_000;
    steps.send();
    steps.cards();
    steps.serverRound();
    steps.pass(processNs);
    steps.respond();
    while (steps.answered == 0) {
      steps.cards();
      steps.clientRound();
    }
    final long said = ProcessTime.ofCode(steps.lastCode);
    assertTrue(Math.abs(said - processNs) <= processNs / 16, "said=" + said);
    assertEquals(0, ProcessTime.status(steps.lastCode));
  }

  /** Whatever the cards have done by the time at which the answer is stored. */
  @Test
  void readFromBeforeTheTurnDoesNotEndIt() throws IOException {
    boolean more = true;
    for (int done = 0; more; done++) {
      final RemoteSteps other = new RemoteSteps(ReplyPolicy.ADAPTIVE, RING_LENGTH);
      other.send(); // and a read is under way
      RemoteSide.turn(other.client.carrier);
      other.clientRound();
      assertTrue(RemoteSide.isTurning(other.client.inbox));
      while (other.requests.isEmpty()) {
        assertTrue(other.card(), "the request does not come");
        other.serverRound();
      }
      for (int card = 0; card < done; card++) {
        more = other.card();
      }
      other.respond();
      other.serverSleeps();
      for (int rounds = 0; other.answered == 0; rounds++) {
        final int after = done;
        assertTrue(rounds < 20, () -> "the answer does not come, after cards=" + after);
        assertFalse(other.client.inbox.isArmed(), "it goes to sleep, which brings all");
        other.cards();
        other.clientRound();
      }
    }
  }

  /** Reads follow as for any call: there is nothing else to look for. */
  @Test
  void turnToFetchingIsDoneAtOnce() throws IOException {
    RemoteSide.turn(steps.client.carrier);
    steps.clientRound();
    assertTrue(RemoteSide.isTurning(steps.client.inbox));
    steps.cards();
    steps.clientRound();
    assertFalse(RemoteSide.isTurning(steps.client.inbox));
    RemoteSide.turn(steps.client.carrier);
    steps.clientRound();
    assertFalse(RemoteSide.isTurning(steps.client.inbox));
  }

  /** Whose line is not pushed by then, nor when it sleeps. */
  @Test
  void serverThatSleptBeforeTheTurnIsRung() throws IOException {
    steps.serverSleeps();
    assertTrue(steps.server.inbox.isArmed());
    RemoteSide.turn(steps.client.carrier);
    steps.send();
    steps.cards();
    steps.clientRound();
    assertEquals(1, steps.client.count(Counter.SESSION_WAKEUPS_SENT));
  }
}
