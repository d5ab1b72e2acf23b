package dev.ringfetch.fabric.sim;

import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricProvider;

/** Gives every fabric that is opened a place in one simulated network. */
public final class SimProvider implements FabricProvider {
  private final SimNetwork network;

  /** Creates the provider. */
  public SimProvider(SimNetwork network) {
    this.network = network;
  }

  @Override
  public String name() {
    return SimFabric.NAME;
  }

  @Override
  public int priority() {
    return 0;
  }

  @Override
  public String unavailability() {
    return null;
  }

  @Override
  public Fabric open(FabricContext context) {
    return network.open();
  }
}
