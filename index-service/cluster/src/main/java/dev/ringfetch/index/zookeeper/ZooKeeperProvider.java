package dev.ringfetch.index.zookeeper;

import dev.ringfetch.index.coordinator.Coordinator;
import dev.ringfetch.index.coordinator.CoordinatorProvider;
import java.net.URI;

/**
 * The provider of coordinators for addresses such as {@code zk://host:port,host:port/cluster}: an
 * ensemble of ZooKeeper, and a cluster in it.
 */
public final class ZooKeeperProvider implements CoordinatorProvider {
  static final String SCHEME = "zk";

  /** Creates the provider; called by the service loader. */
  public ZooKeeperProvider() {}

  @Override
  public String scheme() {
    return SCHEME;
  }

  @Override
  public Coordinator open(URI address) {
    final String path = address.getPath();
    if (address.getAuthority() == null || path == null || path.length() < 2) {
      throw new IllegalArgumentException(
          "'" + address + "' is not zk://HOST:PORT[,HOST:PORT...]/CLUSTER");
    }
    return new ZooKeeperCoordinator(
        new ZooKeeperAddress(address.getAuthority(), path.substring(1)));
  }
}
