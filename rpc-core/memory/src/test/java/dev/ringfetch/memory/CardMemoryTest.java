package dev.ringfetch.memory;

import dev.ringfetch.fabric.FabricCapabilities.WriteOrder;
import dev.ringfetch.fabric.sim.SimContext;

/** Over a simulated card that grants no order. */
class CardMemoryTest extends MemoryContract {
  @Override
  protected MemoryHarness open() {
    return MemoryHarness.grpc(
        new SimContext()
            .loadStore(false)
            .writeOrder(WriteOrder.NONE)
            .readAfterRead(false)
            .readAfterWrite(false),
        Long.getLong("ringfetch.seed", 1));
  }
}
