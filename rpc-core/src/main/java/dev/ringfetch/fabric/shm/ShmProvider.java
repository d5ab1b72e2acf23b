package dev.ringfetch.fabric.shm;

import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricProvider;
import dev.ringfetch.fabric.FabricProviders;
import java.io.IOException;

/** Provider of the {@code shm} fabric, which connects processes of one user on one Linux host. */
public final class ShmProvider implements FabricProvider {
  static final String NAME = FabricProviders.SHM;

  /** Above every fabric that needs a device, since shared memory is the fastest. */
  private static final int PRIORITY = 100;

  /** Creates the provider; called by {@link java.util.ServiceLoader}. */
  public ShmProvider() {}

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public int priority() {
    return PRIORITY;
  }

  @Override
  public String unavailability() {
    final String system = System.getProperty("os.name", "");
    return system.equals("Linux")
        ? PeerCredentials.unavailability()
        : "shm needs Linux: os.name=" + system;
  }

  @Override
  public Fabric open(FabricContext context) throws IOException {
    final String reason = unavailability();
    if (reason != null) {
      throw new IOException(reason);
    }
    final ShmFabric fabric = new ShmFabric(context.directory().toAbsolutePath());
    if (context.sweeps()) {
      fabric.sweep();
    }
    return fabric;
  }
}
