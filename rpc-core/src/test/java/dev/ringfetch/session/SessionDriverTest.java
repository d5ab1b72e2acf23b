package dev.ringfetch.session;

import static dev.ringfetch.session.SessionSteps.bytes;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.HeapFabric;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.session.SessionSteps.Sizes;
import dev.ringfetch.session.poller.Poller;
import dev.ringfetch.session.poller.PollerSteps;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What an owner does for the poller that has come meanwhile, before it leaves. */
@Timeout(60)
class SessionDriverTest {
  private static final int ROUND = 64; // slots
  private static final int MANY = 1_000;
  private static final long SPIN_NS = 50_000;

  /** The last frame is of no call: nobody would look for it. */
  @Test
  void ownerLooksUntilARoundFindsNothing() {
    final SessionSteps steps = new SessionSteps(Sizes.ROOMY);
    final int calls = ROUND / 2;
    for (int i = 0; i < calls; i++) {
      steps.send(bytes(60, i)); // two slots
    }
    steps.stepServer();
    steps.stepServer();
    while (!steps.requests.isEmpty()) {
      steps.requests.remove(0).echo();
    }
    steps.server.drain();
    assertTrue(steps.client.driver.tryAcquire());
    steps.client.driver.lookBeforeLeaving();
    if (steps.client.driver.leave()) {
      steps.client.driver.drive();
    }
    assertTrue(steps.client.isDraining());
  }

  /** Of a peer that writes on as fast as it is read. */
  @Test
  void ownerDoesNotLookForEver() {
    final HeapFabric fabric = new HeapFabric(CountingSession.MEMORY_LENGTH);
    final SessionContext context = new SessionContext().spinNs(0);
    final HostileRing peer =
        new HostileRing(
            fabric.client().memory(),
            ArenaDescriptor.REQUEST_RING_OFFSET,
            CountingSession.GEOMETRY.requestRingLength(),
            CountingSession.GEOMETRY.epoch(),
            0);
    final CountingSession session =
        new CountingSession(fabric, new Poller(fabric.serverDoorbell(), context), context) {
          @Override
          void onRound() {
            super.onRound();
            if (rounds < MANY) {
              peer.write(1, 0, 0, 0, new byte[0]);
            }
          }
        };
    peer.write(1, 0, 0, 0, new byte[0]);
    assertTrue(session.driver.tryAcquire());
    session.driver.lookBeforeLeaving();
    session.driver.leave();
    assertTrue(session.rounds > 1 && session.rounds < MANY / 10, "rounds=" + session.rounds);
  }

  /** The handler's thread may lack a processor: maybe the one that the poller polls on. */
  @Test
  void serversPollerSleepsWhileAHandlersThreadOwnsTheSession() throws IOException {
    final SessionSteps steps = new SessionSteps(Sizes.ROOMY, SPIN_NS);
    final Poller poller = steps.serverPoller;
    steps.send(bytes(60, 0));
    poller.doWork();
    poller.doWork();
    assertEquals(1, steps.requests.size());
    assertTrue(steps.server.driver.tryAcquire());
    steps.advance(SPIN_NS - 1);
    poller.doWork();
    assertFalse(PollerSteps.isIdle(poller));
    steps.advance(1);
    poller.doWork();
    assertTrue(PollerSteps.isIdle(poller));
    steps.send(bytes(60, 1)); // rings nobody: the session is not armed
    assertEquals(0, poller.doWork());
    steps.server.driver.releaseAndTell();
    poller.doWork();
    poller.doWork();
    assertEquals(2, steps.requests.size());
  }

  /** Of other threads that submit as fast as it works. */
  @Test
  void callerLeavesToThePollerWhatOthersGoOnSubmitting() throws IOException {
    final HeapFabric fabric = new HeapFabric(CountingSession.MEMORY_LENGTH);
    final SessionContext context = new SessionContext().spinNs(0);
    final Poller poller = new Poller(fabric.serverDoorbell(), context);
    final CountingSession session =
        new CountingSession(fabric, poller, context) {
          @Override
          void onRound() {
            super.onRound();
            if (rounds < MANY) {
              driver.requestRound();
            }
          }
        };
    session.driver.requestRound();
    assertTrue(session.rounds > 1 && session.rounds < MANY / 10, "rounds=" + session.rounds);
    while (session.rounds < MANY) {
      assertTrue(poller.doWork() > 0, "rounds=" + session.rounds);
    }
  }
}
