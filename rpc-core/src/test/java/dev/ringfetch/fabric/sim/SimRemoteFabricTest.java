package dev.ringfetch.fabric.sim;

import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.LoadableFabricContract;

/**
 * The contract of every fabric, simulated: memory of each side's own, as through a network card.
 */
class SimRemoteFabricTest extends LoadableFabricContract {
  private final SimNetwork network =
      new SimNetwork(new Timeline(1), new SimContext().loadStore(false));

  @Override
  protected Fabric open() {
    return network.open();
  }
}
