package dev.ringfetch.session.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.ringfetch.counters.Kind;
import dev.ringfetch.counters.Tally;
import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.FabricCapabilities;
import dev.ringfetch.fabric.FabricCapabilities.ReadAtomicity;
import dev.ringfetch.fabric.FabricCapabilities.WriteOrder;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.ring.ControlFlyweight;
import dev.ringfetch.ring.RingWriter;
import dev.ringfetch.session.CountingSession;
import dev.ringfetch.session.carrier.RingPair;
import java.io.IOException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** When a client rings a server that has memory of its own, and what of it the client believes. */
class ClientDeliveryTest {
  private static final int RING = ArenaDescriptor.REQUEST_RING_OFFSET;

  private final DirectRegion region = new DirectRegion(CountingSession.MEMORY_LENGTH);
  private final QueuePair queuePair = mock(QueuePair.class);
  private ControlFlyweight line; // of the server, as it was pushed
  private RingWriter writer;
  private RingPair rings;
  private ClientDelivery delivery;

  @BeforeEach
  void connect() throws IOException {
    when(queuePair.memory()).thenReturn(region);
    when(queuePair.scratch(anyInt()))
        .thenAnswer(call -> new DirectRegion(call.<Integer>getArgument(0)));
    when(queuePair.capabilities())
        .thenReturn(new FabricCapabilities(WriteOrder.NONE, ReadAtomicity.NONE, false, 0));
    rings = RingPair.ofClient(queuePair, CountingSession.GEOMETRY);
    line = rings.peerControl();
    writer = rings.writer();
    delivery = new ClientDelivery(new Tally(Kind.SESSION), rings);
  }

  private void write() {
    assertEquals(RingWriter.WRITTEN, writer.write(1, 0, 0, 0, null, 0, 0));
    delivery.onWritten();
  }

  private void assertRung(int rings) {
    verify(queuePair, times(rings)).ringDoorbell();
  }

  @Test
  void whoIsAwakeIsNotRung() {
    write();
    delivery.flush();
    assertRung(0);
  }

  /** Also where the word that it sleeps comes after the frame has gone out. */
  @Test
  void whoSleepsIsRungOnceForWhatHasGoneOut() {
    write();
    line.sleeping(true);
    delivery.flush();
    assertRung(1);
    delivery.flush();
    assertRung(1);
    write();
    assertRung(2);
  }

  @Test
  void whoSleepsAndHasConsumedAllIsNotRung() {
    write();
    line.consumed(writer.position());
    line.sleeping(true);
    delivery.flush();
    assertRung(0);
  }

  /** It sleeps for want of what this side has told by now. */
  @Test
  void whoSleepsBlockedIsRungForCreditAlone() {
    line.sleeping(true);
    line.blocked(true);
    delivery.flush();
    assertRung(0);
    delivery.wakeBlockedPeer();
    assertRung(1);

    delivery.fetching(true);
    assertTrue(delivery.onLine(0, true, true));
    delivery.wakeBlockedPeer();
    assertRung(2);
  }

  @Test
  void whatIsReadOfTheLineCountsWhileItIsNotPushed() {
    delivery.fetching(true);
    write();
    assertTrue(delivery.onLine(0, true, false));
    delivery.flush();
    assertRung(1);
    assertTrue(delivery.onLine(0, false, false));
    write();
    assertRung(1);
  }

  /** What stands here of a line that is not pushed is old. */
  @Test
  void whatWasPushedIsNotBelievedForLong() {
    line.sleeping(true);
    line.blocked(true);
    delivery.fetching(true);
    assertTrue(delivery.isPeerBlocked(), "as was known then");
    assertTrue(delivery.onLine(0, false, false));
    delivery.fetching(true); // as it does already
    assertFalse(delivery.isPeerBlocked());
    write();
    assertRung(0);
    delivery.fetching(false);
    assertTrue(delivery.isPeerBlocked());
  }

  @Test
  void whatWasKnownWhenItBeganToFetchIsBelieved() {
    line.sleeping(true);
    delivery.fetching(true);
    write();
    assertRung(1);
    write();
    assertRung(1);
  }

  @Test
  void whatStandsThereWhenItIsPushedAgainIsReplacedByWhatComes() {
    delivery.fetching(true);
    line.sleeping(true); // late, of the time before
    line.blocked(true);
    delivery.fetching(false);
    line.sleeping(false);
    line.blocked(false);
    assertFalse(delivery.isPeerBlocked());
    write();
    assertRung(0);
  }

  @Test
  void blockedServerIsOneThatHasSaidSo() {
    assertFalse(delivery.isPeerBlocked());
    line.blocked(true);
    assertTrue(delivery.isPeerBlocked());
    line.blocked(false);
    delivery.fetching(true);
    assertTrue(delivery.onLine(0, false, true));
    assertTrue(delivery.isPeerBlocked());
    delivery.wakeBlockedPeer();
    assertFalse(delivery.isPeerBlocked(), "until it is read again");
  }

  /** Neither is the line handed over, nor the server rung, for a frame that is not there yet. */
  @Test
  void whatFindsNoRoomIsBehind() {
    line.sleeping(true);
    when(queuePair.write(eq(RING), anyInt())).thenReturn(QueuePair.SEND_QUEUE_FULL);
    rings.ownControl().consumed(1);
    write();
    assertTrue(delivery.isBehind());
    verify(queuePair, times(0)).write(eq(ArenaDescriptor.CLIENT_CONTROL_OFFSET), anyInt());
    assertRung(0);

    when(queuePair.write(eq(RING), anyInt())).thenReturn(QueuePair.POSTED);
    delivery.flush();
    assertFalse(delivery.isBehind());
    assertRung(1);
  }

  /** The word that it sleeps may come when this side has nothing more to do. */
  @Test
  void whatHasGoneOutIsUncertainUntilItIsConsumedOrRungFor() {
    assertFalse(delivery.isUncertain());
    write();
    assertTrue(delivery.isUncertain());
    line.consumed(writer.position());
    delivery.flush();
    assertFalse(delivery.isUncertain());

    write();
    assertTrue(delivery.isUncertain());
    line.sleeping(true);
    delivery.flush();
    assertRung(1);
    assertFalse(delivery.isUncertain(), "it is awake from now on");

    when(queuePair.write(eq(RING), anyInt())).thenReturn(QueuePair.SEND_QUEUE_FULL);
    line.consumed(writer.position());
    write();
    line.consumed(writer.position());
    assertTrue(delivery.isUncertain(), "it is not even on its way");
  }

  @Test
  void endedConnectionKeepsNobodyBusy() {
    when(queuePair.write(anyInt(), anyInt())).thenReturn(QueuePair.CLOSED);
    write();
    assertFalse(delivery.isBehind());
  }
}
