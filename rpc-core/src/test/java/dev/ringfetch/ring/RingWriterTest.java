package dev.ringfetch.ring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.clearInvocations;
import static org.mockito.Mockito.inOrder;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.verifyNoMoreInteractions;
import static org.mockito.Mockito.when;

import dev.ringfetch.fabric.FabricCapabilities;
import dev.ringfetch.fabric.FabricCapabilities.ReadAtomicity;
import dev.ringfetch.fabric.FabricCapabilities.WriteOrder;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mockito.InOrder;

class RingWriterTest {
  private static final int SLOT = FrameDescriptor.SLOT_LENGTH;
  private static final int RING_OFFSET = 256;
  private static final int SLOTS = 8;
  private static final long EPOCH = 0x1234_5678_9ABC_DEF0L;
  private static final long START = nearOverflow(); // overflows within the test

  private static long nearOverflow() { // a constant would not compile
    return Long.MAX_VALUE - (SLOTS - 1);
  }

  private final MemoryRegion region = mock(MemoryRegion.class);
  private final QueuePair queuePair = mock(QueuePair.class);
  private RingWriter writer;

  @BeforeEach
  void create() {
    when(queuePair.memory()).thenReturn(region);
    when(queuePair.capabilities())
        .thenReturn(new FabricCapabilities(WriteOrder.ASCENDING, ReadAtomicity.LINE, true, 0));
    writer = writer(START);
    line(START);
  }

  private RingWriter writer(long start) {
    return new RingWriter(
        queuePair, RING_OFFSET, SLOTS * SLOT, EPOCH, start, new ControlFlyweight(queuePair, 0));
  }

  /** What the peer tells in its control line. */
  private void line(long consumed) {
    when(region.getLongAcquire(ControlDescriptor.CONSUMED_OFFSET)).thenReturn(consumed);
  }

  private int write(int slots) {
    return writer.write(7, 0, 0, 0, new byte[slots * SLOT], 0, FrameDescriptor.maxPayload(slots));
  }

  private static int frame(int slot) {
    return RING_OFFSET + slot * SLOT;
  }

  private static long word0(long position, int length) {
    return FrameDescriptor.word0(FrameDescriptor.tag(EPOCH, position), length);
  }

  @Test
  void bodyThenCommitWordThenWord0() {
    byte[] payload = new byte[100];
    int written = writer.write(0x10007, FrameDescriptor.PREFIX, 0xABCD, -2, payload, 10, 80);

    assertEquals(RingWriter.WRITTEN, written);
    InOrder order = inOrder(region);
    order
        .verify(region)
        .putLong(frame(0) + 8, FrameDescriptor.word1(0x10007, FrameDescriptor.PREFIX, 0xABCD));
    order.verify(region).putLong(frame(0) + 16, 0xFFFF_FFFEL); // ack; the checksum is 0
    order.verify(region).putBytes(frame(0) + 24, payload, 10, 80);
    order.verify(region).putLongRelease(frame(2) - 8, FrameDescriptor.commitWord(EPOCH, START));
    order.verify(region).putLongRelease(frame(0), word0(START, 80));
    verifyNoMoreInteractions(region);
    assertEquals(START + 2, writer.position());
  }

  /** What gives the room is loaded, with acquire, before anything is stored there. */
  @Test
  void creditIsLoadedBeforeTheFrameIsStored() {
    write(8);
    line(START + 1);
    clearInvocations(region);

    assertEquals(RingWriter.WRITTEN, write(1));

    InOrder order = inOrder(region);
    order.verify(region).getLongAcquire(ControlDescriptor.CONSUMED_OFFSET);
    order.verify(region).putLong(eq(frame(0) + 8), anyLong());
    order.verify(region).putLong(eq(frame(0) + 16), anyLong());
    order.verify(region).putBytes(eq(frame(0) + 24), any(), anyInt(), anyInt());
    order.verify(region).putLongRelease(frame(1) - 8, FrameDescriptor.commitWord(EPOCH, START + 8));
    order.verify(region).putLongRelease(eq(frame(0)), anyLong());
    verifyNoMoreInteractions(region);
  }

  @Test
  void framesArePublishedWhenAllAreStored() {
    write(1);
    write(2);
    writer.publish();

    InOrder order = inOrder(region, queuePair);
    order.verify(region).putLongRelease(frame(0), word0(START, FrameDescriptor.maxPayload(1)));
    order.verify(region).putLongRelease(frame(1), word0(START + 1, FrameDescriptor.maxPayload(2)));
    order.verify(queuePair).write(frame(0), 3 * SLOT);
    order.verifyNoMoreInteractions();
  }

  @Test
  void emptyPayloadStoresNoBytes() {
    assertEquals(RingWriter.WRITTEN, writer.write(7, 0, 0, 0, null, 0, 0));
    verify(region).putLongRelease(frame(1) - 8, FrameDescriptor.commitWord(EPOCH, START));
    verify(region).putLongRelease(frame(0), word0(START, 0));
    verify(region, never()).putBytes(anyInt(), any(), anyInt(), anyInt());
  }

  @Test
  void padFillsTheEndOfTheRing() {
    write(6);
    line(START + 6);
    clearInvocations(region);

    assertEquals(RingWriter.WRITTEN, write(3));

    InOrder order = inOrder(region);
    order.verify(region).putLong(frame(6) + 8, FrameDescriptor.word1(0, FrameDescriptor.PAD, 0));
    order.verify(region).putLongRelease(frame(8) - 8, FrameDescriptor.commitWord(EPOCH, START + 6));
    order.verify(region).putLongRelease(frame(6), word0(START + 6, FrameDescriptor.maxPayload(2)));
    order.verify(region).putLongRelease(frame(3) - 8, FrameDescriptor.commitWord(EPOCH, START + 8));
    order.verify(region).putLongRelease(frame(0), word0(START + 8, FrameDescriptor.maxPayload(3)));
    assertEquals(START + 11, writer.position());
  }

  @Test
  void frameThatEndsWithTheRingNeedsNoPad() {
    write(5);
    assertEquals(RingWriter.WRITTEN, write(3));
    assertEquals(START + 8, writer.position());
    verify(region, never()).putLong(anyInt(), eq(FrameDescriptor.word1(0, FrameDescriptor.PAD, 0)));
  }

  @Test
  void withoutCreditNothingChanges() {
    write(6);
    write(2);
    clearInvocations(region);

    assertEquals(RingWriter.INSUFFICIENT_CREDIT, write(1));

    assertEquals(START + 8, writer.position());
    verify(region).getLongAcquire(ControlDescriptor.CONSUMED_OFFSET);
    verifyNoMoreInteractions(region);
  }

  @Test
  void creditComesFromTheControlLine() {
    write(8);
    line(START + 1);
    assertEquals(RingWriter.INSUFFICIENT_CREDIT, write(2));
    assertEquals(RingWriter.WRITTEN, write(1));
    assertEquals(RingWriter.INSUFFICIENT_CREDIT, write(1));
    line(START + 9);
    assertEquals(RingWriter.WRITTEN, write(7));
    assertEquals(START + 16, writer.position());
  }

  @Test
  void creditComesFromAcksBeforeTheLine() {
    write(8);
    assertTrue(writer.onAck((int) (START + 3)));
    clearInvocations(region);
    assertEquals(RingWriter.WRITTEN, write(3));
    verify(region, never()).getLongAcquire(ControlDescriptor.CONSUMED_OFFSET);
    assertEquals(RingWriter.INSUFFICIENT_CREDIT, write(1)); // the line is behind the ack, rightly
    assertTrue(writer.onAck((int) (START + 6)));
    assertEquals(RingWriter.INSUFFICIENT_CREDIT, write(4));
    assertEquals(RingWriter.WRITTEN, write(3)); // the look at the line has taken nothing back
  }

  @Test
  void lineCanBeAheadOfTheAcks() {
    write(8);
    line(START + 8);
    assertEquals(RingWriter.WRITTEN, write(4));
    assertTrue(writer.onAck((int) (START + 2))); // written before the line was
    assertTrue(writer.onAck((int) (START + 2)));
    clearInvocations(region);
    assertEquals(RingWriter.WRITTEN, write(4));
    verify(region, never()).getLongAcquire(ControlDescriptor.CONSUMED_OFFSET); // nothing forgotten
    assertEquals(RingWriter.INSUFFICIENT_CREDIT, write(1));
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 5, -3, Long.MAX_VALUE, Long.MIN_VALUE, 0xFFFF_FFFFL, 0x7FFF_FFFFL})
  void acksOutsideOfWhatIsUnderWayAreRefused(long start) {
    for (long ahead : new long[] {5, 6, 1000, Integer.MAX_VALUE, -1, -4, Integer.MIN_VALUE}) {
      writer = writer(start);
      line(start);
      for (int i = 0; i < 4; i++) {
        write(1);
      }
      assertTrue(writer.onAck((int) start));
      assertFalse(writer.onAck((int) (start + ahead)), () -> "ahead=" + ahead);
      assertTrue(writer.onAck((int) (start + 4)));
      assertFalse(writer.onAck((int) (start + 3)), "acks never go back");
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {9, 1000, -1, -1000, Long.MAX_VALUE, Long.MIN_VALUE})
  void lineOutsideOfWhatIsUnderWayIsRefused(long ahead) {
    write(8);
    line(START + ahead);
    assertEquals(RingWriter.PROTOCOL_VIOLATION, write(1));
    assertEquals(START + 8, writer.position());
  }

  @Test
  void lineNeverGoesBack() {
    write(8);
    line(START + 4);
    assertEquals(RingWriter.WRITTEN, write(4));
    line(START + 3);
    assertEquals(RingWriter.PROTOCOL_VIOLATION, write(1));
  }

  @Test
  void frameLongerThanTheRingIsTheCallersFault() {
    assertThrows(IllegalArgumentException.class, () -> write(9));
    assertEquals(START, writer.position());
    verifyNoMoreInteractions(region);
  }

  @Test
  void publishPostsOneRange() {
    write(1);
    write(2);
    assertEquals(QueuePair.POSTED, writer.publish());
    verify(queuePair).write(frame(0), 3 * SLOT);
    assertEquals(QueuePair.POSTED, writer.publish());
    verify(queuePair).write(anyInt(), anyInt());
  }

  @Test
  void publishPostsTwoRangesAroundTheEnd() {
    write(6);
    writer.publish();
    line(START + 6);
    write(4);
    clearInvocations(queuePair);

    assertEquals(QueuePair.POSTED, writer.publish());

    InOrder order = inOrder(queuePair);
    order.verify(queuePair).write(frame(6), 2 * SLOT); // the pad
    order.verify(queuePair).write(frame(0), 4 * SLOT);
    verifyNoMoreInteractions(queuePair);
  }

  @Test
  void whatASendQueueRefusesIsKept() {
    write(6);
    writer.publish();
    line(START + 6);
    write(4);
    when(queuePair.write(frame(0), 4 * SLOT))
        .thenReturn(QueuePair.SEND_QUEUE_FULL)
        .thenReturn(QueuePair.CLOSED)
        .thenReturn(QueuePair.POSTED);
    clearInvocations(queuePair);
    assertEquals(QueuePair.SEND_QUEUE_FULL, writer.publish());
    write(1);
    assertEquals(QueuePair.POSTED, writer.publish(), "one range now: the rest and what is new");
    verify(queuePair).write(frame(0), 5 * SLOT);
    verify(queuePair).write(frame(6), 2 * SLOT);
  }

  @Test
  void closedQueuePairIsReported() {
    when(queuePair.write(anyInt(), anyInt())).thenReturn(QueuePair.CLOSED);
    write(1);
    assertEquals(QueuePair.CLOSED, writer.publish());
  }

  /** The peer can consume the pad while the frame waits. */
  @Test
  void padNeedsCreditForItselfOnly() {
    write(6);
    line(START + 2);
    assertEquals(RingWriter.INSUFFICIENT_CREDIT, write(7));
    assertEquals(START + 8, writer.position());
  }

  /** What is there is visible to the peer: it has to be rung for like any frame. */
  @Test
  void padWithoutRoomForItsFrameIsPublished() {
    write(6);
    writer.publish();
    line(START + 6);
    clearInvocations(queuePair, region);
    assertEquals(RingWriter.INSUFFICIENT_CREDIT, write(7)); // 2 of pad and 7
    assertEquals(START + 8, writer.position());
    assertEquals(RingWriter.INSUFFICIENT_CREDIT, write(7)); // no second pad
    assertEquals(START + 8, writer.position());
    writer.publish();
    verify(queuePair).write(frame(6), 2 * SLOT);
    line(START + 8);
    assertEquals(RingWriter.WRITTEN, write(7));
  }

  @Test
  void unpublishedIsWhatIsNeitherPublishedNorConsumed() {
    assertEquals(0, writer.unpublished());
    write(2);
    write(3);
    assertEquals(5, writer.unpublished());
    assertTrue(writer.onConsumed(START + 2));
    assertEquals(3, writer.unpublished());
    writer.publish();
    assertEquals(0, writer.unpublished());
    assertTrue(writer.onConsumed(START + 5));
    assertEquals(0, writer.unpublished());
    write(1);
    assertEquals(1, writer.unpublished());
  }

  /** The peer has fetched it; meanwhile the slots hold frames of the next lap. */
  @Test
  void whatWasConsumedIsNotPublished() {
    write(6);
    write(2);
    assertTrue(writer.onAck((int) (START + 8)));
    write(4);
    write(3);
    assertTrue(writer.onConsumed(START + 12));
    writer.publish();
    verify(queuePair).write(frame(4), 3 * SLOT);
    verify(queuePair).write(anyInt(), anyInt());
  }

  @Test
  void creditComesFromTheLineAsItWasFetched() {
    write(8);
    assertTrue(writer.onConsumed(START + 3));
    clearInvocations(region);
    assertEquals(RingWriter.WRITTEN, write(3));
    verify(region, never()).getLongAcquire(ControlDescriptor.CONSUMED_OFFSET);
    line(START + 1); // as it stood when it was placed last
    assertEquals(RingWriter.INSUFFICIENT_CREDIT, write(1));
    line(START + 6);
    assertEquals(RingWriter.WRITTEN, write(2));
    assertTrue(writer.onConsumed(START + 4)); // read before that was placed
    assertEquals(RingWriter.WRITTEN, write(1));
    assertEquals(RingWriter.INSUFFICIENT_CREDIT, write(1));
  }

  @ParameterizedTest
  @ValueSource(longs = {9, 1000, -1, -1000, Long.MAX_VALUE, Long.MIN_VALUE})
  void fetchedLineOutsideOfWhatIsUnderWayIsRefused(long ahead) {
    write(8);
    assertFalse(writer.onConsumed(START + ahead));
    assertEquals(RingWriter.INSUFFICIENT_CREDIT, write(1));
  }

  @Test
  void fetchedLineNeverGoesBack() {
    write(8);
    assertTrue(writer.onConsumed(START + 8));
    assertTrue(writer.onConsumed(START + 8));
    assertFalse(writer.onConsumed(START + 7));
  }
}
