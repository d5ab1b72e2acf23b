package dev.ringfetch.ring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

final class ProcessTimeTest {
  private static final long UNIT_NS = 16;
  private static final long LONGEST_NS = (UNIT_NS * 15) << 30;

  @Test
  void whatIsReadIsASixteenthOffAtTheMost() {
    long before = 0;
    for (long nanos = 8 * UNIT_NS; nanos < LONGEST_NS; nanos += 1 + nanos / 1000) {
      final long read = ProcessTime.ofCode(ProcessTime.code(0, nanos));
      assertTrue(Math.abs(read - nanos) <= nanos / 16 + UNIT_NS, nanos + " is read as " + read);
      assertTrue(read >= before, "nanos=" + nanos);
      before = read;
    }
  }

  @Test
  void shortOnesAreReadInUnits() {
    for (long nanos = 0; nanos < 8 * UNIT_NS; nanos++) {
      assertEquals(
          nanos / UNIT_NS * UNIT_NS, ProcessTime.ofCode(ProcessTime.code(0, nanos)), "" + nanos);
    }
  }

  @Test
  void itGoesWithTheStatusInSixteenBits() {
    for (final long nanos : new long[] {Long.MIN_VALUE, -17, -1, 0, 1, 5_000, Long.MAX_VALUE}) {
      for (int status = 0; status <= 16; status++) {
        final int code = ProcessTime.code(status, nanos);
        assertEquals(status, code & 0xFF);
        assertEquals(0, code >>> 16);
      }
    }
    assertEquals(0, ProcessTime.ofCode(ProcessTime.code(3, -1)));
    assertEquals(0, ProcessTime.ofCode(ProcessTime.code(3, -17)));
    assertEquals(0x1F, ProcessTime.code(0, Long.MAX_VALUE) >>> 11, "exponent of the longest");
    assertTrue(ProcessTime.ofCode(ProcessTime.code(0, Long.MAX_VALUE)) >= LONGEST_NS);
  }

  @Test
  void aServerThatSaysNothingHasTakenNoTime() {
    assertEquals(0, ProcessTime.ofCode(14));
  }
}
