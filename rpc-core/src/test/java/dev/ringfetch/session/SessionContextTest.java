package dev.ringfetch.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.ringfetch.session.unit.Units;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.mockito.Mockito;

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

  /** Every option, of whatever type, also one that is new. */
  @Test
  void aCopyHasAllOptions() throws Exception {
    int number = 1000;
    for (final Field field : SessionContext.class.getDeclaredFields()) {
      if (isOption(field)) {
        field.setAccessible(true);
        if (field.getType() == boolean.class) {
          field.set(context, !field.getBoolean(context));
        } else if (field.getType() == int.class) {
          field.setInt(context, number++);
        } else if (field.getType() == long.class) {
          field.setLong(context, number++);
        } else if (field.getType().isEnum()) {
          final Object[] values = field.getType().getEnumConstants();
          field.set(context, field.get(context) == values[0] ? values[1] : values[0]);
        } else {
          field.set(context, Mockito.mock(field.getType()));
        }
      }
    }
    final SessionContext copy = context.copy();
    for (final Field field : SessionContext.class.getDeclaredFields()) {
      if (isOption(field)) {
        field.setAccessible(true);
        assertEquals(field.get(context), field.get(copy), field.getName());
      }
    }
    assertNotSame(context.counters(), copy.counters(), "what sessions share");
  }

  private static boolean isOption(Field field) {
    return !Modifier.isStatic(field.getModifiers())
        && !field.isSynthetic()
        && !Set.of("counters", "turns").contains(field.getName());
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
