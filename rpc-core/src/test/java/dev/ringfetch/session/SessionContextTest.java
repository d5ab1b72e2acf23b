package dev.ringfetch.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.ringfetch.session.unit.Units;
import org.junit.jupiter.api.Test;

class SessionContextTest {
  private final SessionContext context = new SessionContext();

  @Test
  void smallestAndLargestAreTaken() {
    assertEquals(64, context.maxFrameLength(64).maxFrameLength());
    assertEquals(1, context.maxStreams(1).maxStreams());
    assertEquals(65_535, context.maxStreams(65_535).maxStreams());
    assertEquals(0, context.maxInboundLength(0).maxInboundLength());
    assertEquals(1, context.maxMetadataLength(1).maxMetadataLength());
    assertEquals(0, context.maxHeldLength(0).maxHeldLength());
    assertEquals(0, context.spinNs(0).spinNs());
    assertEquals(0, context.turnThreshold(0).turnThreshold());
    assertEquals(1, context.turnGroup(1).turnGroup());
    assertEquals(1, context.turnLengthNs(1).turnLengthNs());
    assertEquals(50_000_000, context.turnLengthNs(50_000_000).turnLengthNs());
    assertEquals(0, context.hintWaitNs(0).hintWaitNs());
    assertEquals(128, context.requestRingLength(128).requestRingLength());
    assertEquals(128, context.responseRingLength(128).responseRingLength());
  }

  @Test
  void whatIsBeyondIsRefused() {
    assertThrows(IllegalArgumentException.class, () -> context.maxFrameLength(63));
    assertThrows(IllegalArgumentException.class, () -> context.maxStreams(0));
    assertThrows(IllegalArgumentException.class, () -> context.maxStreams(65_536));
    assertThrows(IllegalArgumentException.class, () -> context.maxInboundLength(-1));
    assertThrows(IllegalArgumentException.class, () -> context.maxMetadataLength(0));
    assertThrows(IllegalArgumentException.class, () -> context.maxHeldLength(-1));
    assertThrows(IllegalArgumentException.class, () -> context.spinNs(-1));
    assertThrows(IllegalArgumentException.class, () -> context.turnThreshold(-1));
    assertThrows(IllegalArgumentException.class, () -> context.turnGroup(0));
    assertThrows(IllegalArgumentException.class, () -> context.turnLengthNs(0));
    assertThrows(IllegalArgumentException.class, () -> context.turnLengthNs(50_000_001));
    assertThrows(IllegalArgumentException.class, () -> context.hintWaitNs(-1));
    assertEquals(1_000_000_000, context.hintWaitNs(1_000_000_000).hintWaitNs());
    assertThrows(IllegalArgumentException.class, () -> context.hintWaitNs(1_000_000_001));
    assertThrows(IllegalArgumentException.class, () -> context.requestRingLength(127));
    assertThrows(IllegalArgumentException.class, () -> context.responseRingLength(64));
  }

  @Test
  void longestUnitHoldsMessageAndMetadata() {
    assertEquals(1000 + 2 * 100 + Units.MAX_DESCRIPTION_LENGTH + 1024, Units.maxLength(1000, 100));
    assertEquals(Integer.MAX_VALUE - 1024, Units.maxLength(Integer.MAX_VALUE, Integer.MAX_VALUE));
  }
}
