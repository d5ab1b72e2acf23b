package dev.ringfetch.fabric;

import java.io.IOException;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;

/** The entry to the providers of this installation, for modules that use memory without calls. */
public final class FabricProviders {
  /** Name of the fabric between processes of one user on one host. */
  public static final String SHM = "shm";

  /** Name of the fabric between hosts with RDMA devices. */
  public static final String VERBS = "verbs";

  private FabricProviders() {}

  /**
   * Opens a fabric that only the caller uses, and that the caller closes.
   *
   * @param name of its provider, {@code shm} for instance.
   * @throws IOException when there is no such provider or it cannot be used, with the reason as its
   *     message.
   */
  public static Fabric open(String name, FabricContext context) throws IOException {
    try {
      for (FabricProvider provider :
          ServiceLoader.load(FabricProvider.class, FabricProviders.class.getClassLoader())) {
        if (provider.name().equals(name)) {
          final String obstacle = provider.unavailability();
          if (obstacle != null) {
            throw new IOException(name + ": " + obstacle);
          }
          return provider.open(context);
        }
      }
    } catch (ServiceConfigurationError | LinkageError e) {
      throw new IOException(name + ": " + Obstacle.of(e), e);
    }
    throw new IOException("no provider: fabric=" + name);
  }
}
