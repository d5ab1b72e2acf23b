package dev.ringfetch.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.session.remote.ReplyPolicy;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** When a client that fetches reads the server's line as well: how it learns that it sleeps. */
class SessionFetchLineTest {
  private static final int RING_LENGTH = 64 * FrameDescriptor.SLOT_LENGTH;
  private static final int INTERVAL = 8; // reads
  private static final int MISSES = 4;

  private final RemoteSteps steps = new RemoteSteps(ReplyPolicy.FETCH, RING_LENGTH);

  SessionFetchLineTest() throws IOException {}

  private void send(int requests) throws IOException {
    for (int i = 0; i < requests; i++) {
      steps.send();
    }
    steps.cards();
    steps.serverRound();
  }

  /** The read that is under way comes back, and the next one is posted. */
  private void read() throws IOException {
    final long before = steps.client.count(Counter.SESSION_FETCHES);
    steps.cards();
    steps.clientRound();
    assertEquals(before + 1, steps.client.count(Counter.SESSION_FETCHES));
  }

  /** With a slow handler: once after some misses, then now and then. */
  @Test
  void lineIsReadAfterSomeMissesAndThenNowAndThen() throws IOException {
    send(1);
    steps.serverSleeps(); // and has said that it has consumed all
    final long own = steps.clientPair.lineReads();
    for (int lines = 1; lines <= 3; lines++) {
      final int misses = lines == 1 ? MISSES : INTERVAL + 1;
      for (int miss = 1; miss <= misses; miss++) {
        assertEquals(own + lines - 1, steps.clientPair.lineReads(), miss + ". miss");
        read();
      }
      assertEquals(own + lines, steps.clientPair.lineReads());
    }
  }

  /** All were acknowledged with the first answer. */
  @Test
  void lineIsNotReadWhileReadsBringAnswersAndNothingIsOwed() throws IOException {
    final int calls = 3 * INTERVAL;
    send(calls);
    read();
    final long misses = steps.client.count(Counter.SESSION_FETCH_MISSES);
    for (int i = 1; i <= calls; i++) {
      steps.respond();
      steps.cards();
      steps.clientRound();
      assertEquals(i, steps.answered);
    }
    assertEquals(misses, steps.client.count(Counter.SESSION_FETCH_MISSES));
    assertEquals(0, steps.clientPair.lineReads());
  }

  /** Handlers go on answering for a server that sleeps: what comes behind them is noticed. */
  @Test
  void lineIsReadWhileReadsBringAnswersAndSomethingIsOwed() throws IOException {
    final int calls = 3 * INTERVAL;
    send(calls);
    read();
    final long misses = steps.client.count(Counter.SESSION_FETCH_MISSES);
    steps.serverSleeps();
    assertTrue(steps.server.inbox.isArmed());
    steps.respond();
    steps.cards();
    steps.clientRound();
    steps.send();
    for (int i = 0; i <= INTERVAL; i++) {
      steps.respond();
      steps.cards();
      steps.clientRound();
    }
    assertEquals(misses, steps.client.count(Counter.SESSION_FETCH_MISSES));
    assertEquals(1, steps.clientPair.lineReads());
    steps.cards();
    steps.clientRound();
    assertEquals(1, steps.client.count(Counter.SESSION_WAKEUPS_SENT));
  }
}
