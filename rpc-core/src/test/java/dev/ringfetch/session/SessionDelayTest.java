package dev.ringfetch.session;

import static dev.ringfetch.session.SessionSteps.bytes;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.BufferedRegion;
import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.HeapFabric;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.session.SessionSteps.Call;
import dev.ringfetch.session.SessionSteps.Sizes;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Stores that wait in a processor's buffer while their side goes on. The server's notice that it
 * drains is where a lost look at credit shows: a client without calls does not come back to look
 * again.
 */
@Timeout(60)
class SessionDelayTest {
  private static final Sizes TWO_SLOTS = new Sizes(128, 128, 8, 1000);
  private static final int TWO_SLOTS_LONG = 90;

  private BufferedRegion clientView;
  private BufferedRegion serverView;
  private SessionSteps steps;
  private Call call;

  /** The answer to the only call fills the ring; the client's poller has not been told of it. */
  @BeforeEach
  void fillTheResponseRing() {
    DirectRegion memory =
        new DirectRegion(ArenaDescriptor.length(TWO_SLOTS.ringLength(), TWO_SLOTS.ringLength()));
    clientView = new BufferedRegion(memory, null);
    serverView = new BufferedRegion(memory, null);
    steps =
        new SessionSteps(
            TWO_SLOTS, new HeapFabric(memory, clientView, serverView), this::drainBoth);
    call = steps.send(bytes(TWO_SLOTS_LONG, 1));
    steps.settle();
    steps.fabric.clientDoorbell().hold(true);
    steps.request().respond(bytes(TWO_SLOTS_LONG, 2));
    drainBoth();
    assertEquals(2, steps.server.writePosition() - steps.client.pollPosition());
  }

  private void drainBoth() {
    clientView.drain();
    serverView.drain();
  }

  private void clientTakesTheAnswer() {
    steps.client.driver.service(false);
    assertTrue(call.isOver());
    assertFalse(steps.client.isDraining());
  }

  private void assertDrained() {
    steps.fabric.clientDoorbell().hold(false);
    steps.settle();
    assertTrue(steps.client.isDraining(), "the server's notice never came");
    assertEquals(1, steps.clientEnds.size());
  }

  /** The consumer looks whether anybody waits for credit; by then what it has told is visible. */
  @Test
  void creditIsVisibleBeforeTheLookAtWhoWaitsForIt() {
    clientTakesTheAnswer();
    steps.server.drain();
    serverView.drain();
    assertDrained();
  }

  /** The writer looks for credit once more; by then it is visible that it waits. */
  @Test
  void whoWaitsForCreditIsVisibleBeforeTheLastLook() {
    steps.server.drain();
    clientTakesTheAnswer();
    assertDrained();
  }
}
