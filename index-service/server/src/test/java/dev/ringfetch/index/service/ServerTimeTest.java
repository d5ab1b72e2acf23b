package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class ServerTimeTest {
  private static final long NS_A_MS = 1_000_000;

  private long wallNs = 1_700_000_000_000L * NS_A_MS;
  private long runningNs = -3_000_400_700L;

  private long wallMs() {
    return Math.floorDiv(wallNs, NS_A_MS);
  }

  private void pass(long ns) {
    wallNs += ns;
    runningNs += ns;
  }

  /** A millisecond begins on one clock while it is half over on the other. */
  @Test
  void isNeverAheadOfAWallClockThatGoesOn() {
    try (ServerTime time = new ServerTime(this::wallMs, () -> runningNs)) {
      for (int i = 0; i < 10_000; i++) {
        pass(99_991);
        final long now = time.nowMs();
        assertTrue(now <= wallMs() && now >= wallMs() - 1, "now=" + now + " wall=" + wallMs());
      }
      assertEquals(wallMs(), time.nowMs());
    }
  }

  @Test
  void goesOnWhereTheWallClockIsSetBack() {
    try (ServerTime time = new ServerTime(this::wallMs, () -> runningNs)) {
      final long before = time.nowMs();
      wallNs -= 3_600_000 * NS_A_MS;
      pass(5 * NS_A_MS);
      final long now = time.nowMs();
      assertTrue(now >= before + 4 && now <= before + 6, "passed=" + (now - before));
    }
  }
}
