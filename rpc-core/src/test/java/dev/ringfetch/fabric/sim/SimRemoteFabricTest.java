package dev.ringfetch.fabric.sim;

import dev.ringfetch.fabric.DatagramContract;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.LoadableFabricContract;
import org.junit.jupiter.api.Nested;

/**
 * The contract of every fabric, simulated: memory of each side's own, as through a network card.
 */
class SimRemoteFabricTest extends LoadableFabricContract {
  private final SimNetwork network =
      new SimNetwork(
          new Timeline(1),
          new SimContext().loadStore(false).readAfterRead(false).maxDatagram(1024));

  @Override
  protected Fabric open() {
    return network.open();
  }

  @Nested
  class Datagrams extends DatagramContract {
    @Override
    protected Fabric openFabric() {
      return open();
    }
  }
}
