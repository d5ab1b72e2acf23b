package dev.ringfetch.session.poller;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** When a busy poller looks at its doorbell again. */
class DoorbellPaceTest {
  private static final long SHORTEST_NS = DoorbellPace.MIN_INTERVAL_NS;
  private static final long LONGEST_NS = 1_000_000;
  private static final long SHARE = 32;

  private final DoorbellPace pace = new DoorbellPace();
  private long lookedNs;

  /** The next look is due after so long, and is taken. */
  private void assertInterval(long ns) {
    assertFalse(pace.isDue(lookedNs + ns - 1), () -> "before " + ns);
    lookedNs += ns;
    assertTrue(pace.isDue(lookedNs), () -> "after " + ns);
  }

  private void looksInVain(int looks, long tookNs) {
    for (int i = 0; i < looks; i++) {
      pace.foundNothing(tookNs);
    }
  }

  @Test
  void looksTakeTheirShareOfTheTime() {
    assertInterval(SHORTEST_NS);
    looksInVain(2, 10_000);
    assertInterval(SHARE * 10_000);
    assertInterval(SHARE * 10_000);
  }

  @Test
  void oneLongLookWasInterrupted() {
    looksInVain(2, 10_000);
    looksInVain(1, 20_000);
    assertInterval(SHARE * 10_000);
    looksInVain(1, 5_000);
    assertInterval(SHARE * 5_000);
  }

  @Test
  void intervalIsBounded() {
    looksInVain(2, 1);
    assertInterval(SHORTEST_NS);
    looksInVain(2, 1_000_000_000);
    assertInterval(LONGEST_NS);
  }

  @Test
  void whoFindsSomethingLooksSooner() {
    looksInVain(2, 1_000_000_000);
    for (long ns = LONGEST_NS / 2; ns > SHORTEST_NS; ns /= 2) {
      pace.foundSome();
      assertInterval(ns);
    }
    pace.foundSome();
    assertInterval(SHORTEST_NS);
    pace.foundSome();
    assertInterval(SHORTEST_NS);
  }
}
