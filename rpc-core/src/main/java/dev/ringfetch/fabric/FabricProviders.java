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

  /** Keeps the providers that it has found: each reader of memory opens fabrics. */
  private static final ServiceLoader<FabricProvider> PROVIDERS =
      ServiceLoader.load(FabricProvider.class, FabricProviders.class.getClassLoader());

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
      final FabricProvider provider = find(name);
      final String obstacle = provider.unavailability();
      if (obstacle != null) {
        throw new IOException(name + ": " + obstacle);
      }
      return provider.open(context);
    } catch (ServiceConfigurationError | LinkageError e) {
      synchronized (PROVIDERS) {
        PROVIDERS.reload(); // else the loader would pass this provider by at the next call
      }
      throw new IOException(name + ": " + Obstacle.of(e), e);
    }
  }

  private static FabricProvider find(String name) throws IOException {
    synchronized (PROVIDERS) {
      for (final FabricProvider provider : PROVIDERS) {
        if (provider.name().equals(name)) {
          return provider;
        }
      }
    }
    throw new IOException("no provider: fabric=" + name);
  }
}
