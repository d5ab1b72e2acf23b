package dev.ringfetch.examples.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

final class BareSignalsTest {
  @Test
  void oneInSixtyFourCompletes() {
    final BareSignals signals = new BareSignals();
    for (int i = 1; i <= 1000; i++) {
      assertEquals(i % 64 == 0, signals.next(), "request " + i);
    }
  }

  /** Before a completion is asked for, the one before is awaited: what may be pending then. */
  @Test
  void queueHoldsWhatMayBePending() {
    final BareSignals signals = new BareSignals();
    int pending = 0;
    int sinceSignal = 0;
    int most = 0;
    for (int i = 0; i < 1000; i++) {
      final boolean signaled = signals.next();
      if (signaled) {
        pending = sinceSignal; // all up to the signal before has completed
        sinceSignal = 0;
      } else {
        sinceSignal++;
      }
      pending++;
      most = Math.max(most, pending);
    }
    assertTrue(most <= BareSignals.DEPTH, () -> "pending");
  }
}
