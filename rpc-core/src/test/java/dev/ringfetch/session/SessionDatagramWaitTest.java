package dev.ringfetch.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.session.remote.RemoteSide;
import dev.ringfetch.session.remote.ReplyPolicy;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** For how long a client waits for a datagram before it reads. */
class SessionDatagramWaitTest {
  private static final int RING_LENGTH = 64 * FrameDescriptor.SLOT_LENGTH;
  private static final long WAIT_NS = SessionContext.HINT_WAIT_NS_DEFAULT;
  private static final int SMALL = 20; // bytes
  private static final int LONG = 1_000; // more than a datagram's

  private final RemoteSteps steps = new RemoteSteps(ReplyPolicy.DATAGRAM, RING_LENGTH);

  SessionDatagramWaitTest() throws IOException {}

  private void assertReads(long reads) {
    assertEquals(reads, steps.client.count(Counter.SESSION_FETCHES));
  }

  /** The next answer is lost, and read after so long. */
  private void assertWait(long ns) throws IOException {
    final int before = steps.answered;
    steps.serverPair.lose(1);
    steps.exchange(SMALL);
    steps.look();
    steps.pass(ns - 1);
    steps.look();
    assertEquals(before, steps.answered, "before " + ns);
    steps.pass(1);
    steps.look();
    assertEquals(before + 1, steps.answered, "after " + ns);
  }

  /** The wait is over, and rounds go by until the read is back. */
  private void readLater() throws IOException {
    steps.pass(RemoteSide.MAX_WAITS * SessionContext.HINT_WAIT_NS_DEFAULT);
    steps.clientRound();
    steps.clientRound();
    steps.clientRound();
    steps.look();
  }

  /** An answer whose datagram comes when it was read. */
  private void lateDatagram() throws IOException {
    final int before = steps.answered;
    steps.clientPair.holdDatagrams(true);
    steps.exchange(SMALL);
    steps.look();
    readLater();
    assertEquals(before + 1, steps.answered);
    steps.clientPair.holdDatagrams(false);
    steps.look();
  }

  /** Where datagrams take longer, they are waited for longer, but not for ever. */
  @Test
  void waitGrowsWithDatagramsThatComeLate() throws IOException {
    lateDatagram();
    assertEquals(1, steps.client.count(Counter.SESSION_HINTS_DROPPED));
    steps.serverPair.lose(1);
    steps.exchange(SMALL);
    steps.look();
    steps.pass(2 * SessionContext.HINT_WAIT_NS_DEFAULT - 1);
    steps.look();
    assertEquals(1, steps.answered, "twice as long");
    steps.pass(1);
    steps.look();
    assertEquals(2, steps.answered);
    for (int i = 0; i < 40; i++) {
      lateDatagram();
    }
    assertEquals(41, steps.client.count(Counter.SESSION_HINTS_DROPPED));
  }

  /** Where datagrams are lost, the wait for them soon shrinks to its minimum. */
  @Test
  void waitShrinksWithDatagramsThatAreLost() throws IOException {
    for (int i = 0; i < 10; i++) {
      lateDatagram();
    }
    for (int i = 0; i < 40; i++) {
      steps.serverPair.lose(1);
      steps.exchange(SMALL);
      steps.look();
      readLater();
    }
    assertEquals(50, steps.answered);
    steps.serverPair.lose(1);
    steps.exchange(SMALL);
    steps.look();
    steps.hintIsOverdue();
    steps.look();
    assertEquals(51, steps.answered);
  }

  /** Each answer that is lost takes an eighth of the wait. */
  @Test
  void waitShrinksByAnEighth() throws IOException {
    lateDatagram();
    assertWait(2 * WAIT_NS);
    assertWait(2 * WAIT_NS - 2 * WAIT_NS / 8);
  }

  /** They are read because a datagram has begun them, not because none has come. */
  @Test
  void longAnswersSayNothingOfTheWait() throws IOException {
    lateDatagram();
    for (int i = 0; i < 2; i++) { // further ones go around the ring's end
      steps.exchange(LONG);
      steps.answers(steps.answered + 1);
    }
    assertWait(2 * WAIT_NS);
  }

  @Test
  void whereNoDatagramCanComeNoneIsWaitedFor() throws IOException {
    steps.clientPair.breakDatagrams();
    steps.exchange(SMALL);
    steps.look();
    steps.look();
    assertEquals(1, steps.answered);
  }

  /** The read before the client goes to sleep has not waited, but nothing had come for longer. */
  @Test
  void readBeforeSleepMakesADatagramLate() throws IOException {
    steps.send();
    steps.cards();
    steps.serverRound();
    steps.clientRound();
    steps.pass(WAIT_NS / 2);
    for (long waited = WAIT_NS / 2; waited < RemoteSteps.SPIN_NS - WAIT_NS; waited += WAIT_NS) {
      steps.pass(WAIT_NS);
      steps.look();
    }
    final long reads = steps.client.count(Counter.SESSION_FETCHES);
    steps.clientPair.holdDatagrams(true);
    steps.respond();
    steps.cards();
    steps.pass(WAIT_NS / 2);
    steps.clientRound();
    assertReads(reads + 1);
    steps.look();
    assertEquals(1, steps.answered);
    steps.clientPair.holdDatagrams(false);
    steps.look();
    assertWait(2 * WAIT_NS);
  }

  /** What is still expected when an answer has come has its own time. */
  @Test
  void waitBeginsAnewWithAnAnswer() throws IOException {
    for (int i = 0; i < 3; i++) {
      steps.send();
    }
    steps.cards();
    steps.serverRound();
    for (int answers = 1; answers <= 2; answers++) {
      steps.respond();
      steps.look();
      assertEquals(answers, steps.answered);
      steps.pass(WAIT_NS - 1);
      steps.look();
    }
    assertReads(0);
    steps.pass(1);
    steps.look();
    assertReads(1);
  }

  /** Not all was consumed when it was sent, but more than before: the server is awake. */
  @Test
  void waitBeginsAnewWhileTheServerConsumes() throws IOException {
    steps.send();
    steps.cards();
    steps.serverRound();
    steps.clientRound();
    steps.pass(WAIT_NS - 1);
    steps.send();
    steps.respond();
    steps.look();
    assertEquals(1, steps.answered);
    steps.pass(1);
    steps.look();
    assertReads(0);
  }

  /** The last answer has crossed a CLOSE: one read tells that the server has taken it. */
  @Test
  void whoMayHaveToRingReadsOnce() throws IOException {
    steps.send();
    final ClientStream cancelled = steps.send();
    steps.cards();
    steps.serverRound();
    steps.respond();
    steps.look();
    steps.client.cancel(cancelled);
    steps.respond();
    steps.look();
    assertEquals(0, steps.client.callCount());
    steps.serverRound();
    steps.serverSleeps();
    steps.look();
    assertReads(0);
    for (int i = 0; i < 3; i++) {
      steps.pass(WAIT_NS);
      steps.look();
      assertReads(1);
    }
  }
}
