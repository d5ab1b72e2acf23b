package dev.ringfetch.index.zookeeper;

import java.time.Duration;
import java.util.regex.Pattern;

/**
 * The address of a cluster in ZooKeeper, with the session timeout and what connections need.
 *
 * @param hosts of the ensemble, each {@code HOST:PORT}, separated by commas
 * @param cluster name of the cluster
 * @param sessionTimeout how long ZooKeeper keeps a node after its end; at least 1 ms. The servers
 *     have limits of their own, by default from 2 to 20 of their ticks.
 * @param config of connections. With a user, new znodes of the cluster are that user's alone; else
 *     they are open to all. Those that are there keep their rights.
 */
public record ZooKeeperAddress(
    String hosts, String cluster, Duration sessionTimeout, ZooKeeperConfig config) {
  /** Default of {@link #sessionTimeout}. */
  public static final Duration SESSION_TIMEOUT_DEFAULT = Duration.ofSeconds(6);

  private static final Pattern HOST =
      Pattern.compile("([^\\s:\\[\\]]+|\\[[0-9A-Fa-f:.]+(%\\w+)?])(:\\d{1,5})?");

  /** Checks the values. */
  public ZooKeeperAddress {
    if (hosts.isEmpty() || cluster.isEmpty()) {
      throw new IllegalArgumentException("hosts=" + hosts + " cluster=" + cluster + ": empty");
    }
    for (final String host : hosts.split(",", -1)) {
      if (!HOST.matcher(host).matches()) {
        throw new IllegalArgumentException(
            "'" + host + "' is not HOST or HOST:PORT, an IPv6 address in brackets: hosts=" + hosts);
      }
    }
    if (sessionTimeout.toMillis() < 1 || sessionTimeout.toMillis() > Integer.MAX_VALUE) {
      throw new IllegalArgumentException("sessionTimeout=" + sessionTimeout);
    }
  }

  /** Same, with the default session timeout. */
  public ZooKeeperAddress(String hosts, String cluster, ZooKeeperConfig config) {
    this(hosts, cluster, SESSION_TIMEOUT_DEFAULT, config);
  }

  int sessionTimeoutMillis() {
    return (int) sessionTimeout.toMillis();
  }

  @Override
  public String toString() {
    return "zk://" + hosts + "/" + cluster;
  }
}
