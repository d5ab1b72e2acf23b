package dev.ringfetch.memory;

import dev.ringfetch.fabric.sim.SimContext;

/** Over a simulated fabric that maps memory. */
class SimulatedMemoryTest extends MemoryContract {
  @Override
  protected MemoryHarness open() {
    return MemoryHarness.grpc(new SimContext(), Long.getLong("ringfetch.seed", 1));
  }
}
