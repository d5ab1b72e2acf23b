package dev.ringfetch.index.client;

import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;

/**
 * A way to find the nodes of a cluster by the address of its coordinator. Clients find it by the
 * scheme of the address, with the service loader.
 */
public interface NodeFinder {
  /** Scheme of the addresses, such as {@code zk}. */
  String scheme();

  /**
   * Asks the coordinator which nodes live, and waits for the answer.
   *
   * @param address such as {@code zk://host:port,host:port/cluster}
   * @param limit how long to wait at most
   * @return host and port of each
   * @throws IOException if no answer comes in time, or the thread is interrupted (it stays
   *     interrupted)
   * @throws IllegalArgumentException if the address is malformed
   */
  List<String> find(URI address, Duration limit) throws IOException;

  /**
   * The addresses of a target, as of {@link IndexClientBuilder#target}; a coordinator is asked now.
   *
   * @param limit how long the coordinator may take
   * @return at least one: host and port of each
   * @throws IllegalArgumentException if the target is malformed
   * @throws IllegalStateException if nothing on the class path knows the coordinator, if it does
   *     not answer, or no node lives
   */
  static List<String> addresses(String target, Duration limit) {
    return Targets.of(target, limit).addresses();
  }

  /** The finder of a scheme; empty if there is none on the class path. */
  static Optional<NodeFinder> of(String scheme) {
    return ServiceLoader.load(NodeFinder.class).stream()
        .map(ServiceLoader.Provider::get)
        .filter(finder -> finder.scheme().equals(scheme))
        .findFirst();
  }
}
