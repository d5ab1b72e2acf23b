package dev.ringfetch.ring;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.clearInvocations;
import static org.mockito.Mockito.inOrder;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.spy;
import static org.mockito.Mockito.verifyNoMoreInteractions;
import static org.mockito.Mockito.when;

import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.FabricCapabilities;
import dev.ringfetch.fabric.FabricCapabilities.ReadAtomicity;
import dev.ringfetch.fabric.FabricCapabilities.WriteOrder;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mockito.InOrder;

/** Frames with a checksum: what the writer stores, and what the poller takes of it. */
class CheckedRingTest {
  private static final int SLOT = FrameDescriptor.SLOT_LENGTH;
  private static final int RING_OFFSET = ArenaDescriptor.REQUEST_RING_OFFSET;
  private static final int SLOTS = 8;
  private static final long EPOCH = 0x1234_5678_9ABC_DEF0L;
  private static final long START = 0x4242_0000_0000_0000L;
  private static final int ID = 0x10007;
  private static final int CODE = 0xABCD;
  private static final int ACK = 0; // the only one that the pollers here acknowledge

  private final DirectRegion region = spy(new DirectRegion(RING_OFFSET + SLOTS * SLOT));
  private final QueuePair queuePair = mock(QueuePair.class);
  private final List<byte[]> payloads = new ArrayList<>();
  private RingWriter writer;
  private RingPoller poller;

  @BeforeEach
  void create() {
    when(queuePair.memory()).thenReturn(region);
    when(queuePair.capabilities())
        .thenReturn(new FabricCapabilities(WriteOrder.NONE, ReadAtomicity.NONE, false, 0));
    open(EPOCH, START);
  }

  /** Both ends of the ring, over one memory: all that was stored was placed at once. */
  private void open(long epoch, long start) {
    ControlFlyweight line = new ControlFlyweight(queuePair, 0);
    line.consumed(start);
    writer = new RingWriter(queuePair, RING_OFFSET, SLOTS * SLOT, epoch, start, line);
    poller = poller(epoch, start);
  }

  private RingPoller poller(long epoch, long start) {
    return new RingPoller(
        queuePair, RING_OFFSET, SLOTS * SLOT, epoch, start, new ControlFlyweight(queuePair, 0));
  }

  private boolean keep(
      int streamId, int flags, int code, int ack, MemoryRegion memory, int offset, int length) {
    assertEquals(ID, streamId);
    assertEquals(FrameDescriptor.PREFIX, flags);
    assertEquals(CODE, code);
    assertEquals(ACK, ack);
    byte[] payload = new byte[length];
    memory.getBytes(offset, payload, 0, length);
    payloads.add(payload);
    return true;
  }

  private int poll() {
    return poller.poll(this::keep, 100);
  }

  private static byte[] payload(int length, int first) {
    byte[] payload = new byte[length];
    for (int i = 0; i < length; i++) {
      payload[i] = (byte) (first + i);
    }
    return payload;
  }

  private byte[] write(int length, int first) {
    byte[] payload = payload(length, first);
    int written = writer.write(ID, FrameDescriptor.PREFIX, CODE, ACK, payload, 0, length);
    assertEquals(RingWriter.WRITTEN, written);
    return payload;
  }

  private static int frame(long position) {
    return RING_OFFSET + (int) (position & (SLOTS - 1)) * SLOT;
  }

  private void flip(int index, int bit) {
    byte[] one = new byte[1];
    region.getBytes(index, one, 0, 1);
    one[0] ^= (byte) (1 << bit);
    region.putBytes(index, one, 0, 1);
  }

  private void assertTaken(byte[]... expected) {
    assertEquals(expected.length, payloads.size());
    for (int i = 0; i < expected.length; i++) {
      assertArrayEquals(expected[i], payloads.get(i));
    }
  }

  /** Bytes that another program has made from docs/wire-format.md. */
  @Test
  void goldenFrame() {
    byte[] payload = payload(60, -9);
    writer.write(ID, FrameDescriptor.PREFIX, CODE, -2, payload, 10, 40);
    byte[] stored = new byte[2 * SLOT];
    region.getBytes(RING_OFFSET, stored, 0, stored.length);
    assertEquals(
        "28000000797ba4dc070001000100cdab"
            + "feffffff30f576d20102030405060708"
            + "090a0b0c0d0e0f101112131415161718"
            + "191a1b1c1d1e1f202122232425262728"
            + "00000000000000000000000000000000"
            + "00000000000000000000000000000000"
            + "00000000000000000000000000000000"
            + "0000000000000000b0d1efb9b55270d3",
        HexFormat.of().formatHex(stored));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 32, 33, 40, 96, 480})
  void framesComeOutAsTheyWentIn(int length) {
    byte[] first = write(length, 1);
    assertEquals(1, poll());
    assertEquals(START + FrameDescriptor.slots(length), poller.position());
    poller.tellConsumed();
    byte[] second = write(length, 2);
    poll();
    assertTaken(first, second);
    assertEquals(0, poller.torn());
  }

  @Test
  void headerWordsAreLoadedOnce() {
    byte[] payload = write(40, 1);
    clearInvocations(region);
    assertEquals(1, poll());
    InOrder order = inOrder(region);
    order.verify(region).getLongAcquire(frame(START));
    order.verify(region).getLongAcquire(frame(START + 2) - 8);
    order.verify(region).getLong(frame(START) + 8);
    order.verify(region).getLong(frame(START) + 16);
    order.verify(region).getBytes(eq(frame(START) + 24), any(), eq(0), eq(40));
    order.verify(region).getLongAcquire(frame(START + 2)); // the next frame's
    verifyNoMoreInteractions(region);
    assertTaken(payload);
  }

  @Test
  void frameWithoutPayloadComesOut() {
    writer.write(ID, FrameDescriptor.PREFIX, CODE, ACK, null, 0, 0);
    assertEquals(1, poll());
    assertTaken(new byte[0]);
  }

  /** Whatever of header, payload or commit word is not the writer's: the frame is not there yet. */
  @Test
  void everyFlippedBitIsFound() {
    byte[] payload = write(40, 1);
    int covered = (FrameDescriptor.PAYLOAD_OFFSET + payload.length) * Byte.SIZE;
    int all = 2 * SLOT * Byte.SIZE;
    int torn = 0;
    for (int bit = 0; bit < all; bit++) {
      if (bit == covered) {
        bit = all - FrameDescriptor.COMMIT_LENGTH * Byte.SIZE;
      }
      flip(frame(START) + bit / Byte.SIZE, bit % Byte.SIZE);
      long before = poller.torn();
      int polled = poll();
      String what = "bit=" + bit;
      if (bit < Integer.SIZE) { // of the length: there may be no such frame
        assertTrue(polled == 0 || polled == RingPoller.PROTOCOL_VIOLATION, what);
      } else {
        assertEquals(0, polled, what);
      }
      torn += (int) (poller.torn() - before);
      assertEquals(START, poller.position(), what);
      flip(frame(START) + bit / Byte.SIZE, bit % Byte.SIZE);
    }
    int words = 2 * Integer.SIZE; // length and tag
    assertTrue(torn >= covered - words, "torn=" + torn);
    assertEquals(1, poll());
    assertTaken(payload);
  }

  /** The padding behind a payload is what an earlier lap has left there, and means nothing. */
  @Test
  void paddingDoesNotCount() {
    byte[] payload = write(40, 1);
    flip(frame(START) + FrameDescriptor.PAYLOAD_OFFSET + 40, 0);
    flip(frame(START + 2) - FrameDescriptor.COMMIT_LENGTH - 1, 7);
    assertEquals(1, poll());
    assertTaken(payload);
  }

  @Test
  void payloadOfPaddingFramesDoesNotCount() {
    write(400, 1); // 7 slots
    assertEquals(1, poll());
    poller.tellConsumed();
    byte[] payload = write(40, 2); // a frame of padding before it
    flip(frame(START + 7) + FrameDescriptor.PAYLOAD_OFFSET, 0);
    assertEquals(2, poll());
    assertArrayEquals(payload, payloads.get(1));
    assertEquals(2, payloads.size());
    assertEquals(START + 10, poller.position());
  }

  @Test
  void headerOfPaddingFramesCounts() {
    write(400, 1);
    poll();
    poller.tellConsumed();
    write(40, 2);
    flip(frame(START + 7) + FrameDescriptor.ACK_OFFSET, 0);
    assertEquals(0, poll());
    assertEquals(1, poller.torn());
    flip(frame(START + 7) + FrameDescriptor.ACK_OFFSET, 0);
    assertEquals(2, poll());
  }

  @Test
  void tornFrameIsTakenOnceWhenItIsWhole() {
    byte[] first = write(20, 1);
    byte[] second = write(100, 2);
    byte[] third = write(30, 3);
    int line = frame(START + 2);
    byte[] late = new byte[SLOT];
    region.getBytes(line, late, 0, SLOT);
    region.putBytes(line, new byte[SLOT], 0, SLOT);
    assertEquals(1, poll());
    assertTrue(poller.hasNext(), "it has begun");
    assertEquals(0, poll());
    assertEquals(2, poller.torn());
    assertTaken(first);
    region.putBytes(line, late, 0, SLOT);
    assertEquals(2, poll());
    assertEquals(0, poll());
    assertTaken(first, second, third);
    assertEquals(2, poller.torn());
  }

  /** Both words are the new frame's, header and payload those of the lap before. */
  @Test
  void frameOfAnEarlierLapUnderNewWordsIsTorn() {
    write(40, 1);
    byte[] before = new byte[2 * SLOT];
    region.getBytes(frame(START), before, 0, before.length);
    assertEquals(1, poll());
    write(350, 2); // 6 slots
    poll();
    poller.tellConsumed();
    assertEquals(START + SLOTS, poller.position());
    byte[] payload = write(40, 3);
    byte[] now = new byte[2 * SLOT];
    region.getBytes(frame(START), now, 0, now.length);

    byte[] mixed = before.clone();
    System.arraycopy(now, 0, mixed, 0, Long.BYTES);
    System.arraycopy(now, 2 * SLOT - 8, mixed, 2 * SLOT - 8, Long.BYTES);
    region.putBytes(frame(START), mixed, 0, mixed.length);
    payloads.clear();
    assertEquals(0, poll());
    assertEquals(1, poller.torn());
    region.putBytes(frame(START), now, 0, now.length);
    assertEquals(1, poll());
    assertTaken(payload);
  }

  /** One tag in 2^32 is another position's as well; the checksum knows the position itself. */
  @Test
  void frameOfAnotherPositionWithTheSameTagIsTorn() {
    long one = 0x10;
    long other = one + 0x8ef4_1f0c_c9bb_99e8L;
    assertEquals(FrameDescriptor.tag(0, one), FrameDescriptor.tag(0, other));
    assertEquals(frame(one), frame(other));
    open(0, one);
    write(32, 1);
    poller = poller(0, other);
    region.putLong(frame(one) + SLOT - 8, FrameDescriptor.commitWord(0, other));
    assertEquals(0, poll());
    assertEquals(1, poller.torn());
  }

  /** A peer that changes a payload while it is read changes its own memory, not the copy. */
  @Test
  void whatIsHandedOutIsACopy() {
    byte[] payload = write(40, 1);
    int polled =
        poller.poll(
            (streamId, flags, code, ack, memory, offset, length) -> {
              assertNotSame(region, memory);
              region.putBytes(frame(START), new byte[2 * SLOT], 0, 2 * SLOT);
              return keep(streamId, flags, code, ack, memory, offset, length);
            },
            100);
    assertEquals(1, polled);
    assertTaken(payload);
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, Integer.MIN_VALUE, Integer.MAX_VALUE, 481, 512, 1 << 20, -64, -32})
  void hostileLengthIsAViolation(int length) {
    int tag = FrameDescriptor.tag(EPOCH, START);
    region.putLong(frame(START), FrameDescriptor.word0(tag, length));
    assertEquals(RingPoller.PROTOCOL_VIOLATION, poll());
    assertEquals(START, poller.position());
  }

  @Test
  void limitIsKept() {
    write(100, 1); // 3 slots
    write(1, 2);
    write(100, 3);
    assertEquals(0, poller.poll(this::keep, 0));
    assertEquals(2, poller.poll(this::keep, 4));
    assertEquals(1, poller.poll(this::keep, 1));
    assertEquals(3, payloads.size());
  }

  @Test
  void frameThatTheHandlerRefusesIsAViolation() {
    write(1, 1);
    write(2, 2);
    assertEquals(
        RingPoller.PROTOCOL_VIOLATION,
        poller.poll((streamId, flags, code, ack, memory, offset, length) -> false, 10));
    assertEquals(START + 1, poller.position());
  }

  @Test
  void frameThatTheHandlerDoesNotTakeNowStays() {
    write(1, 1);
    write(2, 2);
    write(3, 3);
    final PickyHandler picky = new PickyHandler(2);
    assertEquals(1, poller.poll(picky, 10));
    assertEquals(0, poller.poll(picky, 10));
    assertEquals(START + 1, poller.position());
    assertEquals(0, poller.torn());
    picky.refusedLength = 0;
    assertEquals(2, poller.poll(picky, 10));
    assertEquals(List.of(1, 2, 3), picky.lengths);
  }

  @Test
  void frameOfAHandlerThatThrowsIsConsumed() {
    write(1, 1);
    byte[] second = write(2, 2);
    assertThrows(
        IllegalStateException.class,
        () ->
            poller.poll(
                (streamId, flags, code, ack, memory, offset, length) -> {
                  throw new IllegalStateException("handler");
                },
                10));
    assertEquals(START + 1, poller.position());
    assertEquals(1, poll());
    assertTaken(second);
  }

  /** Of a fabric that needs no checksum the field is 0, and not looked at. */
  @Test
  void withoutNeedThereIsNoChecksum() {
    when(queuePair.capabilities())
        .thenReturn(new FabricCapabilities(WriteOrder.ASCENDING, ReadAtomicity.LINE, true, 0));
    open(EPOCH, START);
    byte[] payload = write(40, 1);
    assertEquals(0, region.getInt(frame(START) + FrameDescriptor.CRC32C_OFFSET));
    flip(frame(START) + FrameDescriptor.CRC32C_OFFSET, 3);
    assertEquals(1, poll());
    assertTaken(payload);
  }

  @Test
  void onlyLoadStoreFabricsNeedNone() {
    for (WriteOrder order : WriteOrder.values()) {
      for (ReadAtomicity atomicity : ReadAtomicity.values()) {
        assertFalse(new FabricCapabilities(order, atomicity, true, 0).needChecksums());
        assertTrue(new FabricCapabilities(order, atomicity, false, 0).needChecksums());
      }
    }
  }

  @Test
  void copyIsThePayloadAndNothingElse() {
    FrameCopy copy = new FrameCopy();
    DirectRegion source = new DirectRegion(4096);
    byte[] bytes = payload(4096, 1);
    source.putBytes(0, bytes, 0, bytes.length);
    copy.take(source, 0, 3000);
    byte[] array = copy.take(source, 8, 20);
    assertEquals(20, copy.length());
    assertArrayEquals(Arrays.copyOfRange(bytes, 8, 28), Arrays.copyOf(array, 20));
    assertEquals(source.getLong(16), copy.getLong(8));
    assertEquals(source.getLong(16), copy.getLongAcquire(8));
    assertEquals(source.getInt(24), copy.getInt(16));
    assertEquals(source.getInt(24), copy.getIntAcquire(16));
    assertThrows(IndexOutOfBoundsException.class, () -> copy.getLong(13));
    assertThrows(IndexOutOfBoundsException.class, () -> copy.getInt(17));
    assertThrows(IndexOutOfBoundsException.class, () -> copy.getInt(-1));
    assertThrows(IndexOutOfBoundsException.class, () -> copy.getBytes(1, new byte[20], 0, 20));
    assertThrows(UnsupportedOperationException.class, () -> copy.putLong(0, 0));
    assertThrows(UnsupportedOperationException.class, copy::fullFence);
    assertNotEquals(0, copy.getLong(0));
  }
}
