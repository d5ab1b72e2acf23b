package dev.ringfetch.index.zookeeper;

import dev.ringfetch.index.coordinator.Coordinator;
import dev.ringfetch.index.coordinator.CoordinatorProvider;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;

/**
 * The provider of coordinators for addresses such as {@code zk://host:port,host:port/cluster}: an
 * ensemble of ZooKeeper, and a cluster in it. {@code ?config=FILE} behind it names the {@linkplain
 * ZooKeeperConfig configuration} of the connections.
 */
public final class ZooKeeperProvider implements CoordinatorProvider {
  static final String SCHEME = "zk";

  private static final String CONFIG = "config=";

  /** Creates the provider; called by the service loader. */
  public ZooKeeperProvider() {}

  @Override
  public String scheme() {
    return SCHEME;
  }

  @Override
  public Coordinator open(URI address) throws IOException {
    final String path = address.getPath();
    final String query = address.getQuery();
    if (address.getAuthority() == null
        || path == null
        || path.length() < 2
        || (query != null && !query.startsWith(CONFIG))) {
      throw new IllegalArgumentException(
          "'" + address + "' is not zk://HOST:PORT[,HOST:PORT...]/CLUSTER[?config=FILE]");
    }
    final ZooKeeperConfig config =
        query == null
            ? ZooKeeperConfig.NONE
            : ZooKeeperConfig.read(Path.of(query.substring(CONFIG.length())));
    return new ZooKeeperCoordinator(
        new ZooKeeperAddress(address.getAuthority(), path.substring(1), config));
  }
}
