package dev.ringfetch.index.client;

import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The addresses that a client begins with.
 *
 * @param addresses one at least
 * @param areNodes whether the servers are known to be nodes of a cluster
 */
record Targets(List<String> addresses, boolean areNodes) {
  /** How long the coordinator may take to say which nodes there are. */
  static final Duration FIND_LIMIT = Duration.ofSeconds(10);

  /** The scheme of clusters, even if no finder for it is on the class path. */
  private static final String ZOOKEEPER = "zk";

  /** Without the brackets that an IPv6 address needs before a port. */
  private static final Pattern IPV6 = Pattern.compile("[0-9A-Fa-f.]*(:[0-9A-Fa-f.]*){2,}");

  private static final String SEPARATOR = "://";

  /**
   * The addresses of a target: a server, several nodes separated by commas, or a cluster's
   * coordinator, which this method asks for the nodes.
   *
   * @throws IllegalArgumentException if the target is malformed
   * @throws IllegalStateException if nothing on the class path knows the coordinator, if it does
   *     not answer, or no node lives
   */
  static Targets of(String target) {
    return of(target, FIND_LIMIT);
  }

  /** As above, with how long the coordinator may take. */
  static Targets of(String target, Duration limit) {
    final int end = target.indexOf(SEPARATOR);
    final String scheme = end < 0 ? "" : target.substring(0, end);
    final Optional<NodeFinder> finder = end < 0 ? Optional.empty() : NodeFinder.of(scheme);
    if (finder.isPresent()) {
      return new Targets(find(finder.get(), target, limit), true);
    }
    if (scheme.equals(ZOOKEEPER)) {
      throw new IllegalStateException(
          "'"
              + target
              + "' needs dev.ringfetch:ringfetch-index-cluster on the class path; the address of"
              + " a node does without");
    }
    final List<String> addresses = List.of(target.split(",", -1));
    for (final String address : addresses) {
      if (address.isBlank() || IPV6.matcher(address).matches()) {
        throw new IllegalArgumentException(
            "'" + address + "' is not HOST:PORT, or [IPv6]:PORT: target=" + target);
      }
    }
    return new Targets(addresses, addresses.size() > 1);
  }

  private static List<String> find(NodeFinder finder, String target, Duration limit) {
    final List<String> found;
    try {
      found = finder.find(URI.create(target), limit);
    } catch (IOException e) {
      throw new IllegalStateException(
          "the coordinator does not say which nodes there are: target="
              + target
              + ": "
              + e.getMessage(),
          e);
    }
    if (found.isEmpty()) {
      throw new IllegalStateException("no node of the cluster lives: target=" + target);
    }
    return found;
  }
}
