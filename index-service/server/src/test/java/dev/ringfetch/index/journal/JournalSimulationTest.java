package dev.ringfetch.index.journal;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import org.junit.jupiter.api.Test;

/** Random lives of a journal on a simulated disk: see {@link JournalWorld}. */
class JournalSimulationTest {
  private static final int WORLDS =
      Integer.getInteger(
          "ringfetch.worlds", Integer.getInteger("ringfetch.hunt", 0) == 0 ? 20 : 60);

  private final JournalWorld.Coverage seen = new JournalWorld.Coverage();

  @Test
  void nothingCommittedIsLost() throws IOException {
    final long seed = Long.getLong("ringfetch.seed", 20261127);
    for (int i = 0; i < WORLDS; i++) {
      try {
        new JournalWorld(seed + i, seen).run();
      } catch (Throwable t) {
        throw new AssertionError("-Dringfetch.seed=" + (seed + i) + " -Dringfetch.worlds=1", t);
      }
    }
    System.out.printf(
        "seed=%d worlds=%d cuts=%d kills=%d ends=%d failures=%d fulls=%d shortages=%d lost=%d"
            + " unopened=%d%n",
        seed,
        WORLDS,
        seen.cuts,
        seen.kills,
        seen.ends,
        seen.failures,
        seen.fulls,
        seen.shortages,
        seen.lost,
        seen.unopened);
    if (WORLDS >= 60) {
      assertTrue(
          seen.cuts > 0
              && seen.kills > 0
              && seen.ends > 0
              && seen.failures > 0
              && seen.fulls > 0
              && seen.shortages > 0
              && seen.lost > 0
              && seen.unopened > 0);
    }
  }
}
