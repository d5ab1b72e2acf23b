package dev.ringfetch.fabric.sim;

import dev.ringfetch.fabric.ConnectionContract;
import dev.ringfetch.fabric.DoorbellContract;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.MemoryContract;
import dev.ringfetch.fabric.RegisteredMemoryContract;
import org.junit.jupiter.api.Nested;

/**
 * The contract of every fabric, simulated: memory of each side's own, as through a network card.
 */
class SimRemoteFabricTest {
  private final SimNetwork network =
      new SimNetwork(new Timeline(1), new SimContext().loadStore(false));

  private Fabric open() {
    return network.open();
  }

  @Nested
  class Connections extends ConnectionContract {
    @Override
    protected Fabric openFabric() {
      return open();
    }
  }

  @Nested
  class Memory extends MemoryContract {
    @Override
    protected Fabric openFabric() {
      return open();
    }
  }

  @Nested
  class Registered extends RegisteredMemoryContract {
    @Override
    protected Fabric openFabric() {
      return open();
    }
  }

  @Nested
  class Doorbells extends DoorbellContract {
    @Override
    protected Fabric openFabric() {
      return open();
    }
  }
}
