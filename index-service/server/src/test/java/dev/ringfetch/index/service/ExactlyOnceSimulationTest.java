package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import org.junit.jupiter.api.Test;

/**
 * Many small worlds of clients that repeat their writes, and servers that crash. {@code
 * -Dringfetch.seed=SEED -Dringfetch.worlds=N} draws others.
 */
class ExactlyOnceSimulationTest {
  private static final int WORLDS = Integer.getInteger("ringfetch.worlds", 16);
  private static final int LIVES = 6;
  private static final int STEPS = 500;

  @Test
  void noWriteIsCarriedOutTwice() throws IOException {
    final long seed = Long.getLong("ringfetch.seed", 20261127);
    int repeated = 0;
    int late = 0;
    int ended = 0;
    int ranges = 0;
    int counted = 0;
    int transacted = 0;
    int appended = 0;
    int outgrown = 0;
    int lost = 0;
    int failures = 0;
    int snapshots = 0;
    int fromSnapshots = 0;
    int removed = 0;
    for (int i = 0; i < WORLDS; i++) {
      final ExactlyOnceWorld world = new ExactlyOnceWorld(seed + i);
      try {
        world.run(LIVES, STEPS);
      } catch (Throwable t) {
        throw new AssertionError("-Dringfetch.seed=" + (seed + i) + " -Dringfetch.worlds=1", t);
      }
      repeated += world.repeated;
      late += world.late;
      ended += world.ended;
      ranges += world.ranges;
      counted += world.counted;
      transacted += world.transacted;
      appended += world.appended;
      outgrown += world.outgrown;
      lost += world.lost;
      failures += world.failures;
      snapshots += world.snapshots.taken;
      fromSnapshots += world.fromSnapshots;
      removed += world.removed;
    }
    System.out.printf(
        "seed=%d worlds=%d repeated=%d late=%d ended=%d ranges=%d counted=%d transacted=%d appended=%d outgrown=%d lost=%d failures=%d"
            + " snapshots=%d fromSnapshots=%d removed=%d%n",
        seed,
        WORLDS,
        repeated,
        late,
        ended,
        ranges,
        counted,
        transacted,
        appended,
        outgrown,
        lost,
        failures,
        snapshots,
        fromSnapshots,
        removed);
    if (WORLDS >= 16) {
      assertTrue(repeated > 0 && late > 0 && ended > 0 && ranges > 0 && counted > 0 && lost > 0);
      assertTrue(transacted > 0 && appended > 0 && outgrown > 0);
      assertTrue(snapshots > 0 && fromSnapshots > 0 && removed > 0);
    }
  }
}
