package dev.ringfetch.ring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.Mockito.clearInvocations;
import static org.mockito.Mockito.inOrder;
import static org.mockito.Mockito.spy;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.verifyNoMoreInteractions;

import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.HeapFabric;
import dev.ringfetch.fabric.MemoryRegion;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mockito.InOrder;

class RingPollerTest {
  private static final int SLOT = FrameDescriptor.SLOT_LENGTH;
  private static final int RING_OFFSET = ArenaDescriptor.REQUEST_RING_OFFSET;
  private static final int SLOTS = 8;
  private static final long EPOCH = 0x1234_5678_9ABC_DEF0L;
  private static final long START = 0x4242_0000_0000_0000L;

  private final DirectRegion region = spy(new DirectRegion(RING_OFFSET + SLOTS * SLOT));
  private final HeapFabric fabric = new HeapFabric(region);
  private final ControlFlyweight line = new ControlFlyweight(fabric.server(), 0);
  private final RingPoller poller =
      new RingPoller(fabric.server(), RING_OFFSET, SLOTS * SLOT, EPOCH, START, line);
  private final List<Integer> lengths = new ArrayList<>();

  private boolean keep(
      int streamId, int flags, int code, int ack, MemoryRegion memory, int offset, int length) {
    return lengths.add(length);
  }

  private int poll() {
    return poller.poll(this::keep, 100);
  }

  /** Stores a frame as a peer would, or as a hostile one. */
  private void put(long position, int length, int slots) {
    commit(position, slots);
    word0(position, length);
  }

  private void commit(long position, int slots) {
    int end = frame(position) + slots * SLOT;
    region.putLongRelease(end - 8, FrameDescriptor.commitWord(EPOCH, position));
  }

  private void word0(long position, int length) {
    region.putLongRelease(
        frame(position), FrameDescriptor.word0(FrameDescriptor.tag(EPOCH, position), length));
  }

  private static int frame(long position) {
    return RING_OFFSET + (int) (position & (SLOTS - 1)) * SLOT;
  }

  @Test
  void zeroedRingIsEmpty() {
    assertFalse(poller.hasNext());
    assertEquals(0, poll());
    assertEquals(START, poller.position());
    assertEquals(SLOTS, poller.slots());
  }

  @Test
  void fieldsAreHandedOut() {
    region.putLong(frame(START) + 8, FrameDescriptor.word1(0x87654321, 0x8FED, 0xFEDC));
    region.putInt(frame(START) + FrameDescriptor.ACK_OFFSET, -7);
    put(START, 33, 2);
    int polled =
        poller.poll(
            (streamId, flags, code, ack, memory, offset, length) -> {
              assertEquals(0x87654321, streamId);
              assertEquals(0x8FED, flags);
              assertEquals(0xFEDC, code);
              assertEquals(-7, ack);
              assertEquals(region, memory);
              assertEquals(frame(START) + 24, offset);
              return lengths.add(length);
            },
            1);
    assertEquals(1, polled);
    assertEquals(List.of(33), lengths);
    assertEquals(START + 2, poller.position());
  }

  @Test
  void halfWrittenFrameIsNotConsumed() {
    word0(START, 100); // placed ascending, the end is on its way
    assertTrue(poller.hasNext());
    assertEquals(0, poll());
    assertEquals(START, poller.position());
    commit(START, 3);
    assertEquals(1, poll());

    commit(START + 3, 1); // stored by a CPU, word 0 is on its way
    assertFalse(poller.hasNext());
    assertEquals(0, poll());
    word0(START + 3, 0);
    assertEquals(1, poll());
    assertEquals(List.of(100, 0), lengths);
  }

  @Test
  void wordsOfAnotherPositionOrEpochDoNotCount() {
    for (long wrong : new long[] {START + 1, START - SLOTS, START + SLOTS, 0, EPOCH}) {
      region.putLongRelease(frame(START + 1) - 8, FrameDescriptor.commitWord(EPOCH, wrong));
      word0(START, 0);
      assertEquals(0, poll());
      commit(START, 1);
      region.putLongRelease(
          frame(START), FrameDescriptor.word0(FrameDescriptor.tag(EPOCH, wrong), 0));
      assertEquals(0, poll());
      region.putLongRelease(
          frame(START), FrameDescriptor.word0(FrameDescriptor.tag(EPOCH + 1, START), 0));
      assertEquals(0, poll());
    }
    assertEquals(START, poller.position());
  }

  @Test
  void framesOfEarlierLapsDoNotCount() {
    long position = START;
    for (int lap = 0; lap < 100; lap++) {
      for (int slot = 0; slot < SLOTS; slot++) {
        assertEquals(0, poll());
        assertFalse(poller.hasNext());
        put(position++, 0, 1);
        assertEquals(1, poll());
      }
    }
  }

  /** Right tag, hostile length: nothing is read where it points. */
  @ParameterizedTest
  @ValueSource(ints = {-1, Integer.MIN_VALUE, Integer.MAX_VALUE, 481, 512, 1 << 20, -64, -32})
  void hostileLengthIsAViolation(int length) {
    word0(START, length);
    clearInvocations(region);
    assertEquals(RingPoller.PROTOCOL_VIOLATION, poll());
    verify(region).getLongAcquire(frame(START));
    verifyNoMoreInteractions(region);
    assertEquals(START, poller.position());
  }

  @Test
  void frameNeverWrapsAroundTheEnd() {
    put(START, FrameDescriptor.maxPayload(6), 6);
    assertEquals(1, poll());
    word0(START + 6, FrameDescriptor.maxPayload(2) + 1);
    assertEquals(RingPoller.PROTOCOL_VIOLATION, poll());
    put(START + 6, FrameDescriptor.maxPayload(2), 2);
    assertEquals(1, poll());
    assertEquals(START + 8, poller.position());
  }

  @Test
  void longestFrameIsTheRing() {
    put(START, FrameDescriptor.maxPayload(SLOTS), SLOTS);
    assertEquals(1, poll());
    assertEquals(List.of(SLOTS * SLOT - 32), lengths);
  }

  @Test
  void headerWordsAreLoadedOnce() {
    put(START, 32, 1);
    clearInvocations(region);
    assertEquals(1, poll());
    InOrder order = inOrder(region);
    order.verify(region, times(1)).getLongAcquire(frame(START));
    order.verify(region, times(1)).getLongAcquire(frame(START + 1) - 8);
    order.verify(region, times(1)).getLong(frame(START) + 8);
    order.verify(region, times(1)).getInt(frame(START) + 16);
    order.verify(region, times(1)).getLongAcquire(frame(START + 1)); // the next frame's
    verifyNoMoreInteractions(region);
  }

  /** A session polls in a loop: a plain load could be hoisted out of it. */
  @Test
  void lookAtTheNextFrameAcquires() {
    clearInvocations(region);
    assertFalse(poller.hasNext());
    verify(region).getLongAcquire(frame(START));
    verifyNoMoreInteractions(region);
  }

  @Test
  void padIsConsumedSilently() {
    put(START, FrameDescriptor.maxPayload(2), 2);
    region.putLong(frame(START) + 8, FrameDescriptor.word1(5, FrameDescriptor.PAD, 0));
    put(START + 2, 0, 1);
    assertEquals(2, poll());
    assertEquals(List.of(0), lengths);
  }

  @Test
  void limitIsKept() {
    for (int i = 0; i < 5; i++) {
      put(START + i, i, 1);
    }
    assertEquals(0, poller.poll(this::keep, 0));
    assertEquals(3, poller.poll(this::keep, 3));
    assertEquals(2, poller.poll(this::keep, 3));
    assertEquals(List.of(0, 1, 2, 3, 4), lengths);
  }

  @Test
  void limitCountsSlots() {
    put(START, 100, 3);
    put(START + 3, 1, 1);
    put(START + 4, 100, 3);
    assertEquals(2, poller.poll(this::keep, 4));
    assertEquals(1, poller.poll(this::keep, 1));
    assertEquals(List.of(100, 1, 100), lengths);
  }

  @Test
  void frameThatTheHandlerRefusesIsAViolation() {
    put(START, 0, 1);
    put(START + 1, 1, 1);
    assertEquals(
        RingPoller.PROTOCOL_VIOLATION,
        poller.poll((streamId, flags, code, ack, memory, offset, length) -> false, 10));
    assertEquals(START + 1, poller.position());
  }

  @Test
  void frameThatTheHandlerDoesNotTakeNowStays() {
    put(START, 1, 1);
    put(START + 1, 2, 1);
    put(START + 2, 3, 1);
    final PickyHandler picky = new PickyHandler(2);
    assertEquals(1, poller.poll(picky, 10));
    assertEquals(0, poller.poll(picky, 10));
    assertEquals(START + 1, poller.position());
    picky.refusedLength = 0;
    assertEquals(2, poller.poll(picky, 10));
    assertEquals(List.of(1, 2, 3), picky.lengths);
  }

  @Test
  void frameOfAHandlerThatThrowsIsConsumed() {
    put(START, 0, 1);
    put(START + 1, 1, 1);
    IllegalStateException thrown =
        assertThrows(
            IllegalStateException.class,
            () ->
                poller.poll(
                    (streamId, flags, code, ack, memory, offset, length) -> {
                      throw new IllegalStateException("handler");
                    },
                    10));
    assertEquals("handler", thrown.getMessage());
    assertEquals(START + 1, poller.position());
    assertEquals(1, poll());
    assertEquals(List.of(1), lengths);
  }

  @Test
  void consumedIsToldOnDemand() {
    assertEquals(0, poller.untold());
    poller.tellConsumed();
    assertEquals(0, line.consumed(), "nothing consumed, nothing stored");
    put(START, 0, 1);
    put(START + 1, 33, 2);
    poll();
    assertEquals(3, poller.untold());
    assertEquals(0, line.consumed());
    poller.tellConsumed();
    assertEquals(0, poller.untold());
    assertEquals(START + 3, line.consumed());
  }

  @Test
  void flagsOfTheControlLineAreApart() {
    line.consumed(-1);
    line.sleeping(true);
    assertTrue(line.sleeping());
    assertFalse(line.blocked());
    line.blocked(true);
    line.sleeping(false);
    assertTrue(line.blocked());
    assertFalse(line.sleeping());
    assertEquals(-1, line.consumed());
    line.blocked(false);
    assertFalse(line.blocked());
  }
}
