package dev.ringfetch.index.coordinator;

import java.io.IOException;
import java.net.URI;
import java.util.ServiceLoader;

/** A provider of coordinators for addresses with its scheme. */
public interface CoordinatorProvider {
  /** Scheme of the addresses, such as {@code zk}. */
  String scheme();

  /**
   * Opens a coordinator, which need not be reachable yet.
   *
   * @param address such as {@code zk://host:port,host:port/cluster}
   * @throws IOException if it cannot be opened
   * @throws IllegalArgumentException if the address is malformed
   */
  Coordinator open(URI address) throws IOException;

  /**
   * Opens the coordinator of an address.
   *
   * @throws IOException if there is no such provider, or the coordinator cannot be opened
   * @throws IllegalArgumentException if the address is malformed
   */
  static Coordinator of(URI address) throws IOException {
    for (final CoordinatorProvider provider : ServiceLoader.load(CoordinatorProvider.class)) {
      if (provider.scheme().equals(address.getScheme())) {
        return provider.open(address);
      }
    }
    throw new IOException(
        "no coordinator of this kind is on the class path; an address has the form"
            + " zk://HOST:PORT,.../NAME: address="
            + address);
  }
}
