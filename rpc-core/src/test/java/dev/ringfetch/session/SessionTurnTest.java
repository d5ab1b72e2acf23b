package dev.ringfetch.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.ring.ControlDescriptor;
import dev.ringfetch.session.carrier.Delivery;
import dev.ringfetch.session.poller.Poller;
import dev.ringfetch.session.poller.PollerSteps;
import dev.ringfetch.session.remote.RemoteSide;
import dev.ringfetch.session.remote.ReplyPolicy;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A client that was told when it should send: what waits, for how long, and what does not. */
class SessionTurnTest {
  private static final int RING_LENGTH = 4096;
  private static final int LENGTH_NS = 100_000;
  private static final int PERIOD_NS = 1_000_000;
  private static final int WAY_NS = 2_000; // of the line

  private final RemoteSteps steps;

  SessionTurnTest() throws IOException {
    steps = new RemoteSteps(ReplyPolicy.PUSH, RING_LENGTH);
  }

  /** The server tells of turns, and the client sees it a little later. */
  private void tell(RemoteSteps told, int beginNs, int lengthNs, int periodNs) throws IOException {
    told.pass(1);
    final Delivery delivery = told.server.delivery;
    assertTrue(RemoteSide.tellTurn(delivery, told.nowNs(), beginNs, lengthNs, periodNs));
    told.cards();
    told.pass(WAY_NS);
    told.clientRound();
  }

  /** The turn begins half a period after the line was seen. */
  private void tell() throws IOException {
    tell(steps, PERIOD_NS / 2, LENGTH_NS, PERIOD_NS);
  }

  private long sent() {
    return steps.clientPair.ringWrites();
  }

  private void assertHeld() throws IOException {
    steps.clientRound();
    assertEquals(0, sent(), "sent before its turn");
    assertTrue(steps.client.turn.isHolding());
  }

  private void assertSent() throws IOException {
    steps.clientRound();
    assertEquals(1, sent());
    assertFalse(steps.client.turn.isHolding());
  }

  @Test
  void requestWaitsForItsTurn() throws IOException {
    tell();
    steps.send();
    assertHeld();
    steps.pass(PERIOD_NS / 2 - 1);
    assertHeld();
    steps.pass(1);
    assertSent();
    assertEquals(PERIOD_NS / 2, steps.client.count(Counter.SESSION_TURNS_WAITED));
    assertEquals(0, steps.client.count(Counter.SESSION_TURNS_SKIPPED));
  }

  @Test
  void answerIsWaitedForFromWhenItsRequestLeaves() throws IOException {
    final RemoteSteps fetching = new RemoteSteps(ReplyPolicy.FETCH, RING_LENGTH);
    fetching.send();
    fetching.cards(); // the read is too early
    fetching.serverRound();
    fetching.pass(WAY_NS);
    fetching.clientRound();
    fetching.respond();
    fetching.cards();
    fetching.pass(WAY_NS);
    fetching.clientRound();
    assertEquals(1, fetching.answered);
    tell(fetching, PERIOD_NS / 2, LENGTH_NS, PERIOD_NS);
    fetching.send();
    assertTrue(fetching.client.turn.isHolding());
    final long reads = fetching.clientPair.ringReads();
    fetching.pass(PERIOD_NS / 2);
    fetching.clientRound();
    assertFalse(fetching.client.turn.isHolding());
    fetching.pass(WAY_NS / 8 - 1);
    fetching.clientRound();
    assertEquals(reads, fetching.clientPair.ringReads());
    fetching.pass(1);
    fetching.clientRound();
    assertEquals(reads + 1, fetching.clientPair.ringReads());
  }

  /** Nobody waits for longer than from turn to turn, however late it is woken. */
  @Test
  void whoIsWokenBehindItsTurnSendsAllTheSame() throws IOException {
    tell();
    steps.send();
    assertHeld();
    steps.pass(PERIOD_NS / 2 + LENGTH_NS + 1);
    assertSent();
  }

  @Test
  void turnIsAsLongAsItWasTold() throws IOException {
    tell();
    steps.pass(PERIOD_NS / 2 + 3L * PERIOD_NS + LENGTH_NS - 1);
    steps.send();
    assertSent();
    steps.pass(1);
    steps.send();
    assertTrue(steps.client.turn.isHolding());
    steps.pass(PERIOD_NS - LENGTH_NS);
    steps.clientRound();
    assertEquals(2, sent());
  }

  @Test
  void nothingWaitsWhereNothingWasTold() throws IOException {
    steps.send();
    assertSent();
    assertEquals(0, steps.client.count(Counter.SESSION_TURNS_WAITED));
  }

  @Test
  void turnsEndWhenTheServerSaysSo() throws IOException {
    tell();
    steps.send();
    assertHeld();
    tell(steps, 0, 0, 0);
    assertSent();
  }

  /** Whatever the server says, and whether it says anything ever after. */
  @ParameterizedTest
  @CsvSource({"5,100000,-1", "5,0,1000000", "5,-1,1000000", "5,1000001,1000000", "5,1,100000001"})
  void whatNoServerSaysIsNotHeeded(int beginNs, int lengthNs, int periodNs) throws IOException {
    tell(steps, beginNs, lengthNs, periodNs);
    steps.pass(500_000);
    steps.send();
    assertSent();
  }

  @Test
  void oldTurnsAreForgotten() throws IOException {
    tell();
    steps.pass(64L * PERIOD_NS - WAY_NS);
    steps.send();
    assertHeld();
    steps.pass(WAY_NS + 1);
    assertSent();
  }

  @Test
  void halfALineIsNotHeeded() throws IOException {
    final MemoryRegion seen = steps.clientPair.memory();
    final int line = ArenaDescriptor.SERVER_CONTROL_OFFSET;
    seen.putLong(line + ControlDescriptor.TURN_STAMP_OFFSET, 7);
    seen.putInt(line + ControlDescriptor.TURN_BEGIN_OFFSET, PERIOD_NS / 2);
    seen.putInt(line + ControlDescriptor.TURN_LENGTH_OFFSET, LENGTH_NS);
    steps.clientRound();
    seen.putInt(line + ControlDescriptor.TURN_PERIOD_OFFSET, PERIOD_NS);
    steps.clientRound();
    assertEquals(0, steps.client.turn.heldUntilNs());
    seen.putInt(
        line + ControlDescriptor.TURN_CHECK_OFFSET,
        ((7 * 31 + PERIOD_NS / 2) * 31 + LENGTH_NS) * 31 + PERIOD_NS);
    steps.clientRound();
    steps.send();
    assertHeld();
    seen.putLong(line + ControlDescriptor.TURN_STAMP_OFFSET, 8);
    seen.putInt(line + ControlDescriptor.TURN_PERIOD_OFFSET, 0);
    assertHeld();
  }

  /** A line that was seen late, by a client that slept, does not move the turn. */
  @Test
  void lateLineDoesNotMoveTheTurn() throws IOException {
    tell();
    final Delivery delivery = steps.server.delivery;
    assertTrue(
        RemoteSide.tellTurn(delivery, steps.nowNs(), PERIOD_NS / 2 - WAY_NS, LENGTH_NS, PERIOD_NS));
    steps.cards();
    steps.pass(PERIOD_NS / 4);
    steps.send();
    assertHeld();
    steps.pass(PERIOD_NS / 4 - 1);
    assertHeld();
    steps.pass(1 + (PERIOD_NS >> 10)); // clocks may go apart by as much
    assertSent();
  }

  @Test
  void whatHasADeadlineSoonDoesNotWait() throws IOException {
    tell();
    steps.send(steps.nowNs() + PERIOD_NS);
    assertSent();
    assertEquals(1, steps.client.count(Counter.SESSION_TURNS_SKIPPED));
  }

  @Test
  void whatHasADeadlineLaterWaits() throws IOException {
    tell();
    steps.send(steps.nowNs() + 2L * PERIOD_NS);
    assertHeld();
    steps.pass(PERIOD_NS / 2);
    assertSent();
    assertEquals(0, steps.client.count(Counter.SESSION_TURNS_SKIPPED));
  }

  @Test
  void cancelledWhileItWaitsIsNeverSent() throws IOException {
    tell();
    final ClientStream stream = steps.send(Stream.NO_DEADLINE);
    assertHeld();
    steps.client.cancel(stream);
    steps.pass(PERIOD_NS / 2);
    steps.clientRound();
    assertEquals(0, sent());
    assertFalse(steps.client.turn.isHolding());
    assertFalse(steps.client.mustArmToLeave());
  }

  /** The poller comes by by itself: it sleeps no longer than until the turn begins. */
  @Test
  void pollerSleepsUntilTheTurnBegins() throws IOException {
    final long waitNs = 20 * RemoteSteps.SPIN_NS + 77;
    tell(steps, (int) waitNs, LENGTH_NS, (int) (2 * waitNs));
    steps.send();
    final long beginNs = steps.nowNs() + waitNs;
    final Poller poller = steps.client.poller();
    int sleeps = 0;
    while (steps.nowNs() < beginNs) {
      assertHeld();
      final long sleepNs = PollerSteps.isIdle(poller) ? PollerSteps.beginSleep(poller, true) : 0;
      PollerSteps.endSleep(poller);
      assertTrue(steps.nowNs() + sleepNs <= beginNs, "it sleeps for too long");
      sleeps += sleepNs > 0 ? 1 : 0;
      steps.pass(sleepNs > 0 ? sleepNs : RemoteSteps.SPIN_NS);
    }
    assertEquals(beginNs, steps.nowNs());
    assertSent();
    assertTrue(sleeps > 1, "sleeps: " + sleeps);
  }

  @Test
  void answersAreReadInATurnAndAWhileBehindIt() throws IOException {
    final RemoteSteps fetch = new RemoteSteps(ReplyPolicy.FETCH, RING_LENGTH);
    tell(fetch, 0, LENGTH_NS, PERIOD_NS);
    fetch.send();
    fetch.cards();
    fetch.clientRound();
    final long inTurn = fetch.clientPair.ringReads();
    assertTrue(inTurn > 0);
    fetch.pass(LENGTH_NS + LENGTH_NS / 2);
    fetch.cards();
    fetch.clientRound();
    fetch.cards();
    fetch.clientRound();
    assertEquals(inTurn, fetch.clientPair.ringReads(), "read in others' turns");
    fetch.pass(PERIOD_NS - LENGTH_NS - LENGTH_NS / 2);
    fetch.clientRound();
    assertEquals(inTurn + 1, fetch.clientPair.ringReads(), "not read in the next turn");
  }
}
