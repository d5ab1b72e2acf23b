package dev.ringfetch.session;

import static dev.ringfetch.ring.ArenaDescriptor.CLIENT_CONTROL_OFFSET;
import static dev.ringfetch.ring.ArenaDescriptor.REQUEST_RING_OFFSET;
import static dev.ringfetch.ring.ArenaDescriptor.SERVER_CONTROL_OFFSET;
import static dev.ringfetch.ring.ControlDescriptor.BLOCKED_OFFSET;
import static dev.ringfetch.ring.ControlDescriptor.CONSUMED_OFFSET;
import static dev.ringfetch.ring.ControlDescriptor.SLEEP_OFFSET;
import static dev.ringfetch.ring.FrameDescriptor.SLOT_LENGTH;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.clearInvocations;
import static org.mockito.Mockito.inOrder;
import static org.mockito.Mockito.spy;
import static org.mockito.Mockito.verifyNoMoreInteractions;

import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.HeapFabric;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.ring.ControlFlyweight;
import dev.ringfetch.ring.RingWriter;
import dev.ringfetch.session.poller.Poller;
import org.agrona.concurrent.NanoClock;
import org.junit.jupiter.api.Test;
import org.mockito.InOrder;

/**
 * The order of stores, fences and loads in the handshakes that wake a sleeper, as the memory meets
 * them: own word, full fence, the other's word, and nothing after that.
 */
class WakeupOrderTest {
  private static final int RESPONSE_RING_OFFSET =
      ArenaDescriptor.responseRingOffset(CountingSession.GEOMETRY.requestRingLength());
  private static final int SLOTS = CountingSession.GEOMETRY.responseRingLength() / SLOT_LENGTH;

  private final DirectRegion region = spy(new DirectRegion(CountingSession.MEMORY_LENGTH));
  private final HeapFabric fabric = new HeapFabric(region);
  private final CountingSession session = session();
  private final RingWriter peer =
      new RingWriter(
          fabric.client(),
          REQUEST_RING_OFFSET,
          CountingSession.GEOMETRY.requestRingLength(),
          CountingSession.GEOMETRY.epoch(),
          CountingSession.GEOMETRY.requestPosition(),
          new ControlFlyweight(fabric.client(), SERVER_CONTROL_OFFSET));
  private final ControlFlyweight peerLine =
      new ControlFlyweight(fabric.client(), CLIENT_CONTROL_OFFSET);

  private CountingSession session() {
    final SessionContext context = new SessionContext().clock((NanoClock) () -> 0).spinNs(0);
    return new CountingSession(fabric, new Poller(fabric.serverDoorbell(), context), context);
  }

  private void peerSends() {
    assertEquals(RingWriter.WRITTEN, peer.write(1, 0, 0, 0, null, 0, 0));
  }

  private void send() {
    final Stream stream = new TestStream(1);
    stream.headerOnly = true;
    session.outbox.add(stream);
    session.outbox.flush();
  }

  private static int response(int slot) {
    return RESPONSE_RING_OFFSET + slot * SLOT_LENGTH;
  }

  @Test
  void sleeperTellsThenFencesThenLooksAtItsRing() {
    clearInvocations(region);
    assertTrue(session.inbox.arm());

    InOrder order = inOrder(region);
    order.verify(region).putIntRelease(SERVER_CONTROL_OFFSET + SLEEP_OFFSET, 1);
    order.verify(region).fullFence();
    order.verify(region).getLongAcquire(REQUEST_RING_OFFSET);
    order.verify(region).getIntAcquire(CLIENT_CONTROL_OFFSET + BLOCKED_OFFSET);
    verifyNoMoreInteractions(region);
  }

  /** A frame that came in between: the flag goes down again. */
  @Test
  void sleeperThatFindsAFrameSaysThatItIsAwake() {
    peerSends();
    clearInvocations(region);
    assertFalse(session.inbox.arm());

    InOrder order = inOrder(region);
    order.verify(region).putIntRelease(SERVER_CONTROL_OFFSET + SLEEP_OFFSET, 1);
    order.verify(region).fullFence();
    order.verify(region).getLongAcquire(REQUEST_RING_OFFSET);
    order.verify(region).putIntRelease(SERVER_CONTROL_OFFSET + SLEEP_OFFSET, 0);
    order.verify(region).getLongAcquire(REQUEST_RING_OFFSET); // whether it is whole
    order.verify(region).getLongAcquire(REQUEST_RING_OFFSET + SLOT_LENGTH - Long.BYTES);
    verifyNoMoreInteractions(region);
    assertFalse(session.inbox.isArmed());
  }

  /** The peer may be waiting for the little that was not told: it is told before the flag. */
  @Test
  void sleeperGivesCreditBeforeItSleeps() {
    peerSends();
    session.ring.poll(session.events, 1); // not the inbox, which would tell it
    peerLine.blocked(true);
    peerLine.sleeping(true);
    clearInvocations(region);
    assertTrue(session.inbox.arm());

    InOrder order = inOrder(region);
    order.verify(region).putLongRelease(SERVER_CONTROL_OFFSET + CONSUMED_OFFSET, 1);
    order.verify(region).putIntRelease(SERVER_CONTROL_OFFSET + SLEEP_OFFSET, 1);
    order.verify(region).fullFence();
    order.verify(region).getLongAcquire(REQUEST_RING_OFFSET + SLOT_LENGTH);
    order.verify(region).getIntAcquire(CLIENT_CONTROL_OFFSET + BLOCKED_OFFSET);
    order.verify(region).getIntAcquire(CLIENT_CONTROL_OFFSET + SLEEP_OFFSET);
    verifyNoMoreInteractions(region);
    assertEquals(1, fabric.server().ringsSent());
  }

  @Test
  void writerStoresItsFrameThenFencesThenLooksForASleeper() {
    peerLine.sleeping(true);
    clearInvocations(region);
    send();

    InOrder order = inOrder(region);
    order.verify(region).putLongRelease(eq(response(1) - Long.BYTES), anyLong()); // commit word
    order.verify(region).putLongRelease(eq(response(0)), anyLong());
    order.verify(region).fullFence();
    order.verify(region).getIntAcquire(CLIENT_CONTROL_OFFSET + SLEEP_OFFSET);
    order.verify(region).getLongAcquire(CLIENT_CONTROL_OFFSET + CONSUMED_OFFSET);
    order.verifyNoMoreInteractions();
    assertEquals(1, fabric.server().ringsSent());
  }

  /** Which has consumed what it was rung for when it sleeps again. */
  @Test
  void sleeperIsRungOnceASleep() {
    peerLine.sleeping(true);
    send();
    send();
    assertEquals(1, fabric.server().ringsSent());

    peerLine.consumed(2);
    send();
    assertEquals(2, fabric.server().ringsSent());
  }

  /** Else it would sleep again without having consumed anything, and be taken for not awake yet. */
  @Test
  void sleeperThatHasSeenAllIsNotRung() {
    peerLine.sleeping(true);
    peerLine.consumed(1); // between the frame and the look
    send();
    assertEquals(0, fabric.server().ringsSent());
    send();
    assertEquals(1, fabric.server().ringsSent());
  }

  /** By a sender that does not look for a sleeper. */
  @Test
  void whatIsNotExpectedIsStoredThenFencedThenRungFor() {
    clearInvocations(region);
    final Stream stream = new TestStream(1);
    stream.headerOnly = true;
    session.outbox.addUnsolicited(stream);
    session.outbox.flush();

    InOrder order = inOrder(region);
    order.verify(region).putLongRelease(eq(response(0)), anyLong());
    order.verify(region).fullFence();
    order.verifyNoMoreInteractions();
    assertEquals(1, fabric.server().ringsSent());
  }

  @Test
  void writerWithoutCreditTellsThenFencesThenLooksForCredit() {
    for (int slot = 0; slot < SLOTS; slot++) {
      send();
    }
    clearInvocations(region);
    send();

    InOrder order = inOrder(region);
    order.verify(region).getLongAcquire(CLIENT_CONTROL_OFFSET + CONSUMED_OFFSET);
    order.verify(region).putIntRelease(SERVER_CONTROL_OFFSET + BLOCKED_OFFSET, 1);
    order.verify(region).fullFence();
    order.verify(region).getLongAcquire(CLIENT_CONTROL_OFFSET + CONSUMED_OFFSET);
    verifyNoMoreInteractions(region);

    peerLine.consumed(1);
    clearInvocations(region);
    session.outbox.flush();
    order = inOrder(region);
    order.verify(region).getLongAcquire(CLIENT_CONTROL_OFFSET + CONSUMED_OFFSET);
    order.verify(region).putLongRelease(eq(response(0)), anyLong());
    order.verify(region).putIntRelease(SERVER_CONTROL_OFFSET + BLOCKED_OFFSET, 0);
    order.verify(region).fullFence();
    order.verify(region).getIntAcquire(CLIENT_CONTROL_OFFSET + SLEEP_OFFSET);
    order.verifyNoMoreInteractions();
  }

  @Test
  void consumerGivesCreditThenFencesThenLooksForABlockedWriter() {
    peerSends();
    peerLine.blocked(true);
    peerLine.sleeping(true);
    clearInvocations(region);
    assertEquals(1, session.inbox.poll());

    InOrder order = inOrder(region);
    order.verify(region).getLongAcquire(REQUEST_RING_OFFSET);
    order.verify(region).putLongRelease(SERVER_CONTROL_OFFSET + CONSUMED_OFFSET, 1);
    order.verify(region).fullFence();
    order.verify(region).getIntAcquire(CLIENT_CONTROL_OFFSET + BLOCKED_OFFSET);
    order.verify(region).getIntAcquire(CLIENT_CONTROL_OFFSET + SLEEP_OFFSET);
    order.verifyNoMoreInteractions();
    assertEquals(1, fabric.server().ringsSent());
  }
}
