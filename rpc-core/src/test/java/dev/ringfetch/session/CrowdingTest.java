package dev.ringfetch.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class CrowdingTest {
  private static final int SLOTS = 256;
  private static final long START = Long.MAX_VALUE - 3 * SLOTS; // positions go round

  private long position = START;
  private long nowNs = -5;
  private final Crowding crowding = new Crowding(() -> nowNs, SLOTS, START);

  private boolean full(int slots) {
    position += slots;
    return crowding.onFull(position);
  }

  /** Ring after ring is full, until it is too short. */
  private int rings(int most) {
    int rings = 0;
    boolean crowded = false;
    while (!crowded && rings < most) {
      crowded = full(SLOTS);
      rings++;
    }
    return rings;
  }

  @Test
  void soManyRingsInARow() {
    assertEquals(Crowding.RINGS, rings(1_000));
    assertEquals(Crowding.RINGS, rings(1_000)); // and again
  }

  @Test
  void looksAtTheSameRingCountOnce() {
    for (int i = 0; i < 10_000; i++) {
      assertFalse(full(0));
    }
    for (int i = 0; i < 2 * (Crowding.RINGS - 1); i++) {
      assertFalse(full(SLOTS / 2));
    }
    assertFalse(full(SLOTS / 2));
    assertTrue(full(SLOTS / 2));
  }

  @Test
  void aPauseForgets() {
    for (int i = 1; i < Crowding.RINGS; i++) {
      assertFalse(full(SLOTS));
    }
    nowNs += Crowding.CALM_NS + 1;
    assertEquals(Crowding.RINGS, rings(1_000));
  }

  @Test
  void lessThanAPauseDoesNot() {
    for (int i = 1; i < Crowding.RINGS; i++) {
      assertFalse(full(SLOTS));
      nowNs += Crowding.CALM_NS;
    }
    assertTrue(full(SLOTS));
  }
}
