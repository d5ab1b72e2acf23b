package dev.ringfetch.index.zookeeper;

import java.time.Duration;
import java.util.regex.Pattern;

/**
 * The address of a cluster in ZooKeeper, with the session timeout and credentials.
 *
 * @param hosts of the ensemble, each {@code HOST:PORT}, separated by commas
 * @param cluster name of the cluster
 * @param sessionTimeout how long ZooKeeper keeps a node after its end; at least 1 ms. The servers
 *     have limits of their own, by default from 2 to 20 of their ticks.
 * @param credentials {@code USER:PASSWORD} of ZooKeeper's digest scheme: only clients with the same
 *     credentials can read or change the cluster's znodes. They go over the wire in clear text. If
 *     null, znodes are open to all, and those of an earlier cluster keep their rights.
 */
public record ZooKeeperAddress(
    String hosts, String cluster, Duration sessionTimeout, String credentials) {
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
    if (credentials != null && credentials.indexOf(':') < 1) {
      throw new IllegalArgumentException("credentials are not USER:PASSWORD");
    }
  }

  /** A cluster that is open to all, with the default session timeout. */
  public ZooKeeperAddress(String hosts, String cluster) {
    this(hosts, cluster, SESSION_TIMEOUT_DEFAULT, null);
  }

  int sessionTimeoutMillis() {
    return (int) sessionTimeout.toMillis();
  }

  /** Without the password. */
  @Override
  public String toString() {
    return "zk://" + hosts + "/" + cluster;
  }
}
