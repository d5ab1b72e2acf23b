package dev.ringfetch.ring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.Mockito.clearInvocations;
import static org.mockito.Mockito.inOrder;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.verifyNoMoreInteractions;
import static org.mockito.Mockito.when;

import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mockito.InOrder;

/**
 * What is loaded here decides what is stored elsewhere, and what is stored here vouches for what
 * was loaded elsewhere: so every load acquires and every store releases.
 */
class ControlFlyweightTest {
  private static final int OFFSET = 128;
  private static final int CONSUMED = OFFSET + ControlDescriptor.CONSUMED_OFFSET;
  private static final int RELEASED = OFFSET + ControlDescriptor.RELEASED_OFFSET;
  private static final int SLEEP = OFFSET + ControlDescriptor.SLEEP_OFFSET;
  private static final int BLOCKED = OFFSET + ControlDescriptor.BLOCKED_OFFSET;
  private static final int FETCHING = OFFSET + ControlDescriptor.FETCHING_OFFSET;
  private static final int STAMP = OFFSET + ControlDescriptor.TURN_STAMP_OFFSET;
  private static final int BEGIN = OFFSET + ControlDescriptor.TURN_BEGIN_OFFSET;
  private static final int LENGTH = OFFSET + ControlDescriptor.TURN_LENGTH_OFFSET;
  private static final int PERIOD = OFFSET + ControlDescriptor.TURN_PERIOD_OFFSET;
  private static final int CHECK = OFFSET + ControlDescriptor.TURN_CHECK_OFFSET;

  private final MemoryRegion region = mock(MemoryRegion.class);
  private final QueuePair queuePair = mock(QueuePair.class);
  private ControlFlyweight line;

  @BeforeEach
  void create() {
    when(queuePair.memory()).thenReturn(region);
    line = new ControlFlyweight(queuePair, OFFSET);
    clearInvocations(queuePair);
  }

  @Test
  void loadsAcquire() {
    when(region.getLongAcquire(CONSUMED)).thenReturn(-3L);
    when(region.getLongAcquire(RELEASED)).thenReturn(1L << 40);
    when(region.getIntAcquire(SLEEP)).thenReturn(1, 0);
    when(region.getIntAcquire(BLOCKED)).thenReturn(0, 1);
    when(region.getIntAcquire(FETCHING)).thenReturn(1, 0);
    assertEquals(-3L, line.consumed());
    assertEquals(1L << 40, line.released());
    assertTrue(line.sleeping());
    assertFalse(line.sleeping());
    assertFalse(line.blocked());
    assertTrue(line.blocked());
    assertTrue(line.fetching());
    assertFalse(line.fetching());
    assertFalse(line.isDirty());
    verifyNoMoreInteractions(queuePair);
  }

  @Test
  void storesRelease() {
    line.consumed(-3);
    line.released(1L << 40);
    line.sleeping(true);
    line.sleeping(false);
    line.blocked(true);
    line.blocked(false);
    line.fetching(true);
    line.fetching(false);
    InOrder order = inOrder(region);
    order.verify(region).putLongRelease(CONSUMED, -3);
    order.verify(region).putLongRelease(RELEASED, 1L << 40);
    for (int flag : new int[] {SLEEP, BLOCKED, FETCHING}) {
      for (int value : new int[] {1, 0}) {
        order.verify(region).putIntRelease(flag, value);
      }
    }
    verifyNoMoreInteractions(region, queuePair);
  }

  @Test
  void turnIsToldWithItsCheck() {
    line.turn(7L << 32 | 5, 1, 2, 3);
    InOrder order = inOrder(region);
    order.verify(region).putLongRelease(STAMP, 7L << 32 | 5);
    order.verify(region).putIntRelease(BEGIN, 1);
    order.verify(region).putIntRelease(LENGTH, 2);
    order.verify(region).putIntRelease(PERIOD, 3);
    order.verify(region).putIntRelease(CHECK, ((5 * 31 + 1) * 31 + 2) * 31 + 3);
    verifyNoMoreInteractions(region, queuePair);
  }

  @Test
  void turnCountsOnlyWhole() {
    when(region.getLongAcquire(STAMP)).thenReturn(-9L);
    when(region.getIntAcquire(BEGIN)).thenReturn(1);
    when(region.getIntAcquire(LENGTH)).thenReturn(2);
    when(region.getIntAcquire(PERIOD)).thenReturn(3);
    when(region.getIntAcquire(CHECK)).thenReturn(((-9 * 31 + 1) * 31 + 2) * 31 + 3);
    assertEquals(-9L, line.turnStamp());
    assertEquals(1, line.turnBegin());
    assertEquals(2, line.turnLength());
    assertEquals(3, line.turnPeriod());
    assertTrue(line.isTurn(-9, 1, 2, 3));
    assertFalse(line.isTurn(-8, 1, 2, 3));
    assertFalse(line.isTurn(-9, 0, 2, 3));
    assertFalse(line.isTurn(-9, 1, 3, 3));
    assertFalse(line.isTurn(-9, 1, 2, 2));
  }

  @Test
  void whatWasSetIsPublishedAtOnce() {
    assertEquals(QueuePair.POSTED, line.publish());
    verifyNoMoreInteractions(queuePair);
    line.consumed(7);
    line.sleeping(true);
    assertTrue(line.isDirty());
    assertEquals(QueuePair.POSTED, line.publish());
    assertFalse(line.isDirty());
    assertEquals(QueuePair.POSTED, line.publish());
    assertEquals(1, line.publications());
    InOrder order = inOrder(region, queuePair);
    order.verify(region).putLongRelease(CONSUMED, 7);
    order.verify(region).putIntRelease(SLEEP, 1);
    order.verify(queuePair).write(OFFSET, ControlDescriptor.CONTROL_LENGTH);
    verifyNoMoreInteractions(region, queuePair);
  }

  @Test
  void eachSetterMakesTheLineDirty() {
    List<Runnable> setters =
        List.of(
            () -> line.consumed(0),
            () -> line.released(0),
            () -> line.sleeping(false),
            () -> line.blocked(false),
            () -> line.fetching(false),
            () -> line.turn(0, 0, 0, 0));
    for (Runnable setter : setters) {
      setter.run();
      assertTrue(line.isDirty());
      line.publish();
      assertFalse(line.isDirty());
    }
    verify(queuePair, times(setters.size())).write(OFFSET, ControlDescriptor.CONTROL_LENGTH);
  }

  @ParameterizedTest
  @ValueSource(ints = {QueuePair.SEND_QUEUE_FULL, QueuePair.CLOSED})
  void whatASendQueueRefusesStaysDirty(int refused) {
    when(queuePair.write(OFFSET, ControlDescriptor.CONTROL_LENGTH))
        .thenReturn(refused, QueuePair.POSTED);
    line.blocked(true);
    assertEquals(refused, line.publish());
    assertTrue(line.isDirty());
    assertEquals(0, line.publications());
    assertEquals(QueuePair.POSTED, line.publish());
    assertFalse(line.isDirty());
    assertEquals(1, line.publications());
  }
}
