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

/** Work requests of sessions whose sides have memory of their own: exactly how many, and when. */
class SessionFetchTest {
  private static final int SLOTS = 64;
  private static final int RING_LENGTH = SLOTS * FrameDescriptor.SLOT_LENGTH;
  private static final int CALLS = 10 * SLOTS;

  /** A call whose answer is there when the first read looks for it. */
  private static void call(RemoteSteps steps) throws IOException {
    final int before = steps.answered;
    steps.send();
    while (steps.requests.isEmpty()) {
      assertTrue(steps.card(), "the request does not come");
      steps.serverRound();
    }
    steps.respond();
    while (steps.answered == before) {
      steps.clientRound();
      assertTrue(steps.card() || steps.answered > before, "the answer does not come");
    }
    steps.cards();
    steps.serverRound();
  }

  /** The line is written at the start, and then for every quarter of the ring that was consumed. */
  private static void assertBounded(long lineWrites) {
    assertTrue(lineWrites <= 2 + CALLS / (SLOTS / 4), "writes of the line: " + lineWrites);
  }

  /** The device is told of a request and the read that follows at once. */
  private static void assertTogether(long doorbells, long lineWrites) {
    assertTrue(doorbells >= CALLS, "doorbells: " + doorbells);
    assertTrue(doorbells <= CALLS + lineWrites, "doorbells: " + doorbells);
  }

  @Test
  void fetchedCallIsOneWriteAndOneRead() throws IOException {
    final RemoteSteps steps = new RemoteSteps(ReplyPolicy.FETCH, RING_LENGTH);
    for (int i = 0; i < CALLS; i++) {
      call(steps);
    }
    assertEquals(CALLS, steps.clientPair.ringWrites());
    assertEquals(CALLS, steps.clientPair.ringReads());
    assertEquals(0, steps.clientPair.lineReads());
    assertBounded(steps.clientPair.lineWrites());
    assertTogether(steps.clientPair.doorbells(), steps.clientPair.lineWrites());
    assertEquals(0, steps.serverPair.ringWrites());
    assertEquals(0, steps.serverPair.lineWrites());
    assertEquals(0, steps.serverPair.ringReads() + steps.serverPair.lineReads());
    assertEquals(CALLS, steps.client.count(Counter.SESSION_FETCHES));
    assertEquals(0, steps.client.count(Counter.SESSION_FETCH_MISSES));
    assertEquals(0, steps.client.count(Counter.SESSION_WAKEUPS_SENT));
    assertEquals(0, steps.server.count(Counter.SESSION_WAKEUPS_SENT));
  }

  @Test
  void pushedCallIsOneWriteEachWay() throws IOException {
    final RemoteSteps steps = new RemoteSteps(ReplyPolicy.PUSH, RING_LENGTH);
    for (int i = 0; i < CALLS; i++) {
      call(steps);
    }
    assertEquals(CALLS, steps.clientPair.ringWrites());
    assertEquals(0, steps.clientPair.ringReads() + steps.clientPair.lineReads());
    assertBounded(steps.clientPair.lineWrites());
    assertEquals(CALLS, steps.serverPair.ringWrites());
    assertBounded(steps.serverPair.lineWrites());
    assertEquals(0, steps.serverPair.ringReads() + steps.serverPair.lineReads());
    assertEquals(0, steps.client.count(Counter.SESSION_FETCHES));
  }

  /** Some misses have the server's line read as well, by which a server that sleeps is found. */
  @Test
  void readerThatMissesFindsThatTheServerSleeps() throws IOException {
    final RemoteSteps steps = new RemoteSteps(ReplyPolicy.FETCH, RING_LENGTH);
    call(steps);
    steps.spinTimeIsOver();
    steps.serverRound();
    assertTrue(steps.server.inbox.isArmed());
    assertEquals(0, steps.serverPair.lineWrites(), "it fetches: nothing is pushed to it");

    steps.send();
    steps.cards();
    for (int misses = 1; misses <= 4; misses++) {
      assertEquals(0, steps.clientPair.lineReads(), "an answer comes before, mostly");
      steps.cards();
      steps.clientRound(); // a miss, and the next read
      assertEquals(misses, steps.client.count(Counter.SESSION_FETCH_MISSES));
    }
    assertEquals(1, steps.clientPair.lineReads());
    assertEquals(0, steps.client.count(Counter.SESSION_WAKEUPS_SENT));
    steps.cards();
    steps.clientRound();
    assertEquals(1, steps.client.count(Counter.SESSION_WAKEUPS_SENT));
    steps.cards();
    steps.clientRound();
    steps.cards();
    assertEquals(1, steps.client.count(Counter.SESSION_WAKEUPS_SENT), "rung once");
    assertEquals(1, steps.clientPair.lineReads(), "the line is not read with every miss");
  }

  /** It writes that it sleeps, and only when the read that followed found nothing is it asleep. */
  @Test
  void sleepIsOneWriteAndOneRead() throws IOException {
    for (final ReplyPolicy mode : ReplyPolicy.values()) {
      final RemoteSteps steps = new RemoteSteps(mode, RING_LENGTH);
      call(steps);
      steps.send();
      steps.cards();
      steps.serverRound();
      steps.clientRound(); // a read that is under way is waited for
      steps.cards();
      final long lineWrites = steps.clientPair.lineWrites();
      final long lineReads = steps.clientPair.lineReads();
      steps.spinTimeIsOver();
      steps.clientRound();
      assertEquals(lineWrites + 1, steps.clientPair.lineWrites(), "the write of " + mode);
      assertTrue(steps.client.inbox.isSettling());
      steps.clientRound();
      assertTrue(steps.client.inbox.isSettling(), "the read is under way");
      while (steps.client.inbox.isSettling()) {
        steps.clientRound();
        steps.cards();
      }
      steps.clientRound();
      assertTrue(steps.client.inbox.isArmed());
      assertEquals(lineWrites + 1, steps.clientPair.lineWrites());
      assertTrue(steps.clientPair.lineReads() > lineReads);
      assertTrue(PollerSteps.isIdle(steps.client.poller()));

      steps.respond(); // in the handler's thread: pushed, and rung for
      assertEquals(1, steps.server.count(Counter.SESSION_WAKEUPS_SENT));
      steps.cards();
      steps.client.poller().doWork();
      steps.client.poller().serveNested();
      while (steps.answered < 2) {
        steps.clientRound();
      }
      assertFalse(steps.client.inbox.isArmed());
    }
  }

  /** Told so behind the request, the server neither pushes nor rings. */
  @Test
  void whoWritesWhileAsleepFetches() throws IOException {
    final RemoteSteps steps = new RemoteSteps(ReplyPolicy.FETCH, RING_LENGTH);
    call(steps);
    steps.send();
    steps.cards();
    steps.serverRound();
    steps.clientRound();
    steps.cards();
    steps.spinTimeIsOver();
    for (int rounds = 0; rounds < 10; rounds++) {
      steps.clientRound();
      steps.cards();
    }
    assertTrue(steps.client.inbox.isArmed());
    assertFalse(steps.client.inbox.isSettling());

    steps.send();
    assertFalse(steps.client.inbox.isArmed());
    steps.cards();
    steps.serverRound();
    steps.respond();
    steps.respond();
    while (steps.answered < 3) {
      steps.clientRound();
      assertTrue(steps.card() || steps.answered == 3, "the answers do not come");
    }
    assertEquals(0, steps.serverPair.ringWrites());
    assertEquals(0, steps.server.count(Counter.SESSION_WAKEUPS_SENT));
  }

  /** Nothing that found the send queue full is forgotten. */
  @Test
  void fullSendQueueIsTriedAgain() throws IOException {
    for (final ReplyPolicy mode : ReplyPolicy.values()) {
      for (int refused = 1; refused < 6; refused++) {
        final RemoteSteps steps = new RemoteSteps(mode, RING_LENGTH);
        steps.clientPair.refuse(refused);
        steps.send();
        for (int i = 0; i < refused; i++) {
          steps.clientRound();
          steps.cards();
        }
        while (steps.requests.isEmpty()) {
          steps.clientRound();
          steps.cards();
          steps.serverRound();
        }
        steps.serverPair.refuse(refused);
        steps.respond();
        for (int round = 0; steps.answered == 0; round++) {
          assertTrue(round < 100, mode + ": the answer does not come");
          steps.serverRound();
          steps.cards();
          steps.hintIsOverdue();
          steps.clientRound();
          steps.cards();
        }
      }
    }
  }
}
