package dev.ringfetch.session;

import static dev.ringfetch.ring.ArenaDescriptor.CLIENT_CONTROL_OFFSET;
import static dev.ringfetch.ring.ArenaDescriptor.REQUEST_RING_OFFSET;
import static dev.ringfetch.ring.ArenaDescriptor.SERVER_CONTROL_OFFSET;
import static dev.ringfetch.ring.ControlDescriptor.BLOCKED_OFFSET;
import static dev.ringfetch.ring.ControlDescriptor.CONTROL_LENGTH;
import static dev.ringfetch.ring.ControlDescriptor.FETCHING_OFFSET;
import static dev.ringfetch.ring.ControlDescriptor.SLEEP_OFFSET;
import static dev.ringfetch.ring.FrameDescriptor.SLOT_LENGTH;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.clearInvocations;
import static org.mockito.Mockito.inOrder;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.spy;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.ringfetch.fabric.CompletionQueue;
import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.FabricCapabilities;
import dev.ringfetch.fabric.FabricCapabilities.ReadAtomicity;
import dev.ringfetch.fabric.FabricCapabilities.WriteOrder;
import dev.ringfetch.fabric.HeapDoorbell;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.session.poller.Poller;
import java.io.IOException;
import org.agrona.concurrent.NanoClock;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.mockito.InOrder;

/**
 * The order of stores, fences, loads and work requests by which a server wakes a client that has
 * memory of its own, or goes to sleep itself.
 */
class RemoteWakeupOrderTest {
  private static final int RESPONSE_RING_OFFSET =
      ArenaDescriptor.responseRingOffset(CountingSession.GEOMETRY.requestRingLength());
  private static final int SLEEP = CLIENT_CONTROL_OFFSET + SLEEP_OFFSET;
  private static final int FETCHING = CLIENT_CONTROL_OFFSET + FETCHING_OFFSET;

  private final DirectRegion region = spy(new DirectRegion(CountingSession.MEMORY_LENGTH));
  private final QueuePair queuePair = mock(QueuePair.class);
  private final CompletionQueue completions = mock(CompletionQueue.class);
  private CountingSession session;

  @BeforeEach
  void connect() {
    when(queuePair.memory()).thenReturn(region);
    when(queuePair.completions()).thenReturn(completions);
    when(queuePair.capabilities())
        .thenReturn(new FabricCapabilities(WriteOrder.NONE, ReadAtomicity.NONE, false, 0));
    final SessionContext context = new SessionContext().clock((NanoClock) () -> 0).spinNs(0);
    session = new CountingSession(queuePair, new Poller(new HeapDoorbell(), context), context);
  }

  private void client(boolean sleeping, boolean fetching) {
    region.putInt(SLEEP, sleeping ? 1 : 0);
    region.putInt(FETCHING, fetching ? 1 : 0);
    clearInvocations(region);
  }

  private void send() {
    final Stream stream = new TestStream(1);
    stream.headerOnly = true;
    session.outbox.add(stream);
    session.outbox.flush();
  }

  @Test
  void frameIsStoredThenFencedThenTheClientsWordsAreLookedAt() {
    client(false, true);
    send();

    final InOrder order = inOrder(region);
    order.verify(region).putLongRelease(eq(RESPONSE_RING_OFFSET), anyLong());
    order.verify(region).fullFence();
    order.verify(region).getIntAcquire(SLEEP);
    order.verify(region).getIntAcquire(FETCHING);
    order.verifyNoMoreInteractions();
    verify(queuePair, never()).write(anyInt(), anyInt());
    verify(queuePair, never()).ringDoorbell();
  }

  @Test
  void whoSleepsIsRungBehindTheFrame() {
    client(true, false);
    send();

    final InOrder order = inOrder(region, queuePair);
    order.verify(region).fullFence();
    order.verify(region).getIntAcquire(SLEEP);
    order.verify(queuePair).write(RESPONSE_RING_OFFSET, SLOT_LENGTH);
    order.verify(queuePair).ringDoorbell();
  }

  /** Neither is the ring sent before there was room for the frame, nor forgotten. */
  @Test
  void whoSleepsIsRungWhenThereIsRoomForTheFrame() {
    client(true, false);
    when(queuePair.write(anyInt(), anyInt())).thenReturn(QueuePair.SEND_QUEUE_FULL);
    send();
    verify(queuePair, never()).ringDoorbell();
    verify(completions).poll(any(), anyInt());
    assertTrue(session.delivery.isBehind());

    when(queuePair.write(anyInt(), anyInt())).thenReturn(QueuePair.POSTED);
    session.work(true);
    verify(queuePair).ringDoorbell();
    assertFalse(session.delivery.isBehind());
  }

  /** What was left for the client to fetch is pushed, and nothing rung for, when it does not. */
  @Test
  void whatWasNotFetchedIsPushedLater() {
    client(false, true);
    send();
    client(false, false);
    session.work(true);
    verify(queuePair).write(RESPONSE_RING_OFFSET, SLOT_LENGTH);
    verify(queuePair, never()).ringDoorbell();
  }

  @Test
  void sleeperTellsThenFencesThenPushesThenLooksAtItsRing() {
    client(false, false);
    assertTrue(session.inbox.arm());

    final InOrder order = inOrder(region, queuePair);
    order.verify(region).putIntRelease(SERVER_CONTROL_OFFSET + SLEEP_OFFSET, 1);
    order.verify(region).fullFence();
    order.verify(region).getIntAcquire(FETCHING);
    order.verify(queuePair).write(SERVER_CONTROL_OFFSET, CONTROL_LENGTH);
    order.verify(region).getLongAcquire(REQUEST_RING_OFFSET);
  }

  /** A client that cannot be told would not ring. */
  @Test
  void sleeperThatCannotTellStaysAwake() {
    client(false, false);
    when(queuePair.write(anyInt(), anyInt())).thenReturn(QueuePair.SEND_QUEUE_FULL);
    assertFalse(session.inbox.arm());
    assertFalse(session.inbox.isArmed());
  }

  /** There is no memory that both sides reach: none is asked for, and none may be named. */
  @Test
  void longMessagesGoAsChains() throws IOException {
    assertNull(session.bulk().allocate(100_000));
    verify(queuePair, never()).register(anyInt());
    final int offer = FrameDescriptor.SESSION_STREAM_ID;
    assertFalse(session.events.onFrame(offer, FrameDescriptor.BULK, 0, 0, region, 0, 16));
  }

  /** One that has ended is no reason to stay awake. */
  @Test
  void endedConnectionKeepsNobodyAwake() {
    client(false, false);
    when(queuePair.write(anyInt(), anyInt())).thenReturn(QueuePair.CLOSED);
    send();
    assertFalse(session.delivery.isBehind());
    assertTrue(session.inbox.arm());
  }

  /** Also one that fetches: it may not do so for long, with nothing to expect. */
  @Test
  void whatIsNotExpectedIsPushedAndRungFor() {
    client(false, true);
    final Stream stream = new TestStream(1);
    stream.headerOnly = true;
    session.outbox.addUnsolicited(stream);
    session.outbox.flush();
    verify(queuePair).write(RESPONSE_RING_OFFSET, SLOT_LENGTH);
    verify(queuePair).ringDoorbell();
  }

  @Test
  void creditRingsWhoSleepsForWantOfIt() {
    client(true, false);
    session.delivery.wakeBlockedPeer();
    verify(queuePair, never()).ringDoorbell();
    client(false, false);
    region.putInt(CLIENT_CONTROL_OFFSET + BLOCKED_OFFSET, 1);
    session.delivery.wakeBlockedPeer();
    verify(queuePair, never()).ringDoorbell();
    client(true, false);
    session.delivery.wakeBlockedPeer();
    verify(queuePair).ringDoorbell();
  }
}
