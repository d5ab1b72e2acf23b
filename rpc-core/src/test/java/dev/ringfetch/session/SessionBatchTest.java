package dev.ringfetch.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.session.remote.ReplyPolicy;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/**
 * What is issued while somebody posts leaves together when he has done, and what is alone leaves at
 * once: batches are as long as the work of a moment, and no clock is asked.
 */
class SessionBatchTest {
  private static final int RING_LENGTH =
      4096 * FrameDescriptor.SLOT_LENGTH; // nothing comes to its end
  private static final int CALLS = 16;

  /** So many calls while another one has the session; then the server has all requests. */
  private static void request(RemoteSteps steps) throws IOException {
    assertTrue(steps.client.driver.tryAcquire());
    for (int i = 0; i < CALLS; i++) {
      steps.send();
    }
    leave(steps.client);
    while (steps.requests.size() < CALLS) {
      assertTrue(steps.card(), "the requests do not come");
      steps.serverRound();
    }
  }

  /** The handlers answer while another one has the session. */
  private static void respond(RemoteSteps steps) throws IOException {
    final int before = steps.answered;
    assertTrue(steps.server.driver.tryAcquire());
    for (int i = 0; i < CALLS; i++) {
      steps.respond();
    }
    leave(steps.server);
    steps.answers(before + CALLS);
    steps.cards();
  }

  /** Reads that have brought something. */
  private static long hits(RemoteSteps steps) {
    return steps.client.count(Counter.SESSION_FETCHES)
        - steps.client.count(Counter.SESSION_FETCH_MISSES);
  }

  private static void leave(Session session) {
    if (session.driver.leave()) {
      session.driver.drive();
    }
  }

  @Test
  void requestsAreOneWriteAndAnswersOneRead() throws IOException {
    final RemoteSteps steps = new RemoteSteps(ReplyPolicy.FETCH, RING_LENGTH);
    request(steps);
    respond(steps); // how much comes at once is known
    for (int batch = 0; batch < 4; batch++) {
      final long writes = steps.clientPair.ringWrites();
      final long doorbells = steps.clientPair.doorbells();
      final long reads = hits(steps);
      request(steps);
      assertEquals(writes + 1, steps.clientPair.ringWrites());
      assertEquals(doorbells + 1, steps.clientPair.doorbells(), "with the read that follows");
      respond(steps);
      assertEquals(reads + 1, hits(steps));
    }
    assertEquals(0, steps.serverPair.ringWrites());
  }

  @Test
  void answersThatArePushedAreOneWrite() throws IOException {
    final RemoteSteps steps = new RemoteSteps(ReplyPolicy.PUSH, RING_LENGTH);
    for (int batch = 1; batch <= 3; batch++) {
      request(steps);
      assertEquals(batch, steps.clientPair.ringWrites());
      final long doorbells = steps.serverPair.doorbells();
      respond(steps);
      assertEquals(batch, steps.serverPair.ringWrites());
      assertEquals(doorbells + 1, steps.serverPair.doorbells());
    }
  }

  /** Before the poller has done a round, or time has passed. */
  @Test
  void whatIsAloneLeavesAtOnce() throws IOException {
    for (final ReplyPolicy mode : ReplyPolicy.values()) {
      final RemoteSteps steps = new RemoteSteps(mode, RING_LENGTH);
      for (int call = 1; call <= 3; call++) {
        final long doorbells = steps.clientPair.doorbells();
        steps.send();
        assertEquals(call, steps.clientPair.ringWrites(), mode::toString);
        assertTrue(steps.clientPair.doorbells() > doorbells, mode::toString);
        while (steps.requests.isEmpty()) {
          assertTrue(steps.card(), "the request does not come");
          steps.serverRound();
        }
        final long responding = steps.serverPair.doorbells();
        steps.respond();
        final boolean pushed = mode == ReplyPolicy.PUSH;
        assertEquals(pushed ? call : 0, steps.serverPair.ringWrites(), mode::toString);
        assertEquals(pushed, steps.serverPair.doorbells() > responding, mode::toString);
        steps.answers(call);
      }
    }
  }
}
