package dev.ringfetch.examples.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.rdma.natives.CompletionLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;

final class BareFrameTest {
  private static final int SLOT = 64;

  private final ByteBuffer memory =
      ByteBuffer.allocateDirect(1024).alignedSlice(64).order(ByteOrder.nativeOrder());
  private final BareFrame frame = new BareFrame(memory, SLOT);

  @Test
  void numbersStandAtBothEnds() {
    frame.putHeadRelease(5);
    frame.putTailRelease(-6);
    assertEquals(5, memory.getLong(SLOT));
    assertEquals(-6, memory.getLong(SLOT + 40));
    assertEquals(5, frame.headAcquire());
    assertEquals(-6, frame.tailAcquire());
  }

  @Test
  void eachByteOfThePayloadCounts() {
    frame.fill(7);
    assertTrue(frame.holds(7));
    assertFalse(frame.holds(8));
    for (int i = 0; i < BareFrame.PAYLOAD_LENGTH; i++) {
      final int place = SLOT + BareFrame.PAYLOAD + i;
      memory.put(place, (byte) ~memory.get(place));
      assertFalse(frame.holds(7), "byte " + i);
      memory.put(place, (byte) ~memory.get(place));
    }
    assertTrue(frame.holds(7));
  }

  @Test
  void copyTakesThePayloadAlone() {
    final BareFrame other = new BareFrame(memory, 2 * SLOT);
    frame.fill(9);
    frame.putHeadRelease(9);
    frame.putTailRelease(9);
    other.copy(frame);
    assertTrue(other.holds(9));
    assertEquals(0, other.headAcquire());
    assertEquals(0, other.tailAcquire());
  }

  @Test
  void slotsDoNotOverlap() {
    assertEquals(BareFrame.LENGTH, BareFrame.PAYLOAD + BareFrame.TRANSFER_LENGTH);
    assertTrue(BareEnd.ANSWER >= BareEnd.REQUEST + BareFrame.LENGTH);
    assertTrue(BareEnd.DATAGRAMS >= BareEnd.ANSWER + BareFrame.LENGTH);
    assertTrue(BareDatagrams.END <= BareEnd.LENGTH);
    assertTrue(CompletionLayout.ROUTE_HEADER + BareFrame.TRANSFER_LENGTH <= BareDatagrams.STEP);
  }
}
