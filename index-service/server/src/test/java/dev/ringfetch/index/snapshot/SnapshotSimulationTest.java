package dev.ringfetch.index.snapshot;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/**
 * Random lives of servers that take snapshots while they write to hash and ordered indexes, create
 * and drop them, on a simulated disk: killed, without power, ended in order, at any call of a
 * snapshot, with failing calls and full disks.
 */
class SnapshotSimulationTest {
  private static final int WORLDS = Integer.getInteger("ringfetch.worlds", 15);
  private static final int LIVES = 8;

  @Test
  void nothingDurableIsLostAndNothingRemovedComesBack() {
    final long seed = Long.getLong("ringfetch.seed", 20261127);
    final SnapshotWorld.Coverage seen = new SnapshotWorld.Coverage();
    for (int i = 0; i < WORLDS; i++) {
      try {
        new SnapshotWorld(seed + i, seen).run(LIVES);
      } catch (Throwable t) {
        throw new AssertionError("-Dringfetch.seed=" + (seed + i) + " -Dringfetch.worlds=1", t);
      }
    }
    System.out.printf(
        "seed=%d worlds=%d crashes=%d cuts=%d ends=%d failures=%d unopened=%d unclean=%d%n",
        seed,
        WORLDS,
        seen.crashes,
        seen.cuts,
        seen.ends,
        seen.failures,
        seen.unopened,
        seen.unclean);
    System.out.printf(
        "taken=%d failed=%d crashed-within=%d recovered-from=%d trimmed=%d dropped=%d%n",
        seen.taken,
        seen.failedSnapshots,
        seen.duringSnapshot,
        seen.recovered,
        seen.trimmed,
        seen.dropped);
    if (WORLDS >= 100) {
      assertTrue(
          seen.crashes > 0
              && seen.cuts > 0
              && seen.ends > 0
              && seen.failures > 0
              && seen.taken > 0
              && seen.failedSnapshots > 0
              && seen.duringSnapshot > 0
              && seen.recovered > 0
              && seen.trimmed > 0
              && seen.dropped > 0);
    }
  }
}
