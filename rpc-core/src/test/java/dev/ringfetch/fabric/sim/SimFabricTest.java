package dev.ringfetch.fabric.sim;

import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.LoadableFabricContract;

/** The contract of every fabric, simulated: memory that both sides load and store. */
class SimFabricTest extends LoadableFabricContract {
  private final SimNetwork network = new SimNetwork(new Timeline(1), new SimContext());

  @Override
  protected Fabric open() {
    return network.open();
  }
}
