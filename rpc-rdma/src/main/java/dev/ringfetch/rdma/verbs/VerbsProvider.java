package dev.ringfetch.rdma.verbs;

import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricProvider;
import dev.ringfetch.fabric.FabricProviders;
import dev.ringfetch.rdma.natives.NativeLibrary;
import java.io.IOException;

/** Provider of the {@code verbs} fabric, which connects hosts that have RDMA devices. */
public final class VerbsProvider implements FabricProvider {
  static final String NAME = FabricProviders.VERBS;

  /** Priority below that of shared memory, which is faster. */
  private static final int PRIORITY = 50;

  /** For {@link java.util.ServiceLoader}. */
  public VerbsProvider() {}

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
    final String reason = NativeLibrary.unavailableBecause();
    return reason.isEmpty() ? null : reason;
  }

  @Override
  public Fabric open(FabricContext context) throws IOException {
    final String reason = unavailability();
    if (reason != null) {
      throw new IOException(reason);
    }
    return new VerbsFabric();
  }
}
