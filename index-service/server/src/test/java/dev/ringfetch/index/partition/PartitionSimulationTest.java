package dev.ringfetch.index.partition;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/**
 * Many small worlds of one partition and its clients, each drawn from a seed. {@code
 * -Dringfetch.seed=SEED} begins with another.
 */
final class PartitionSimulationTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 1);
  private static final int WORLDS = 1_000;
  private static final int STEPS = 80;

  /** Room that came between two looks at the log was forgotten. */
  @Test
  void aSeedThatFailed() {
    new Simulation(1795798185395445922L).run(STEPS);
  }

  @Test
  void everyWorldKeepsItsPromises() {
    long queueFull = 0;
    long memoryFull = 0;
    long unknown = 0;
    long unavailable = 0;
    long exhausted = 0;
    long dependants = 0;
    long handedOver = 0;
    long postponed = 0;
    for (long seed = SEED; seed < SEED + WORLDS; seed++) {
      final Simulation simulation = new Simulation(seed);
      try {
        simulation.run(STEPS);
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError("seed=" + seed + " errors=" + simulation.errors(), e);
      }
      queueFull += simulation.queueFull();
      memoryFull += simulation.memoryFull();
      unknown += simulation.count(Write.UNKNOWN);
      unavailable += simulation.count(Write.UNAVAILABLE);
      exhausted += simulation.count(Write.VERSIONS_EXHAUSTED);
      dependants += simulation.dependants();
      handedOver += simulation.handedOver();
      postponed += simulation.postponed();
    }
    // Else the worlds say nothing about it.
    assertTrue(queueFull > WORLDS / 10, "queueFull=" + queueFull);
    assertTrue(memoryFull > WORLDS / 10, "memoryFull=" + memoryFull);
    assertTrue(unknown > WORLDS / 10, "unknown=" + unknown);
    assertTrue(unavailable > WORLDS / 10, "unavailable=" + unavailable);
    assertTrue(exhausted > WORLDS / 10, "exhausted=" + exhausted);
    assertTrue(dependants > WORLDS / 10, "dependants=" + dependants);
    assertTrue(handedOver > WORLDS / 10, "handedOver=" + handedOver);
    assertTrue(postponed > WORLDS / 10, "postponed=" + postponed);
  }
}
