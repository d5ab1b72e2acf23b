package dev.ringfetch.index.direct;

import io.grpc.CallOptions;
import java.net.URI;
import java.net.URISyntaxException;

/**
 * The address of a node of a cluster, host and port, as nodes announce it and channels accept it;
 * and the call option that names the one node for a call. A channel to all nodes obeys the option.
 * A channel to a single server ignores it, and the server refuses calls for another node.
 */
public final class NodeAddress {
  /** Address of the node, host and port. */
  public static final CallOptions.Key<String> KEY =
      CallOptions.Key.create("dev.ringfetch.index.node");

  private static final int MAX_PORT = 65_535;

  private NodeAddress() {}

  /**
   * The address of a port of a host. An IPv6 address gets the brackets that it needs before a port.
   *
   * @param host name or IP address
   * @throws IllegalArgumentException if the host is malformed, or the port is not from 1 to 65,535
   */
  public static String of(String host, int port) {
    final boolean needsBrackets = host.indexOf(':') >= 0 && !host.startsWith("[");
    final String address = (needsBrackets ? "[" + host + "]" : host) + ":" + port;
    if (!isValid(address)) {
      throw new IllegalArgumentException(
          "not the name or the IP address of a host, and a port: host=" + host + " port=" + port);
    }
    return address;
  }

  /** Whether a channel can be made to an address: a host that gRPC can resolve, and a port. */
  public static boolean isValid(String address) {
    try {
      final URI uri = new URI("//" + address);
      return uri.getHost() != null
          && uri.getPort() > 0
          && uri.getPort() <= MAX_PORT
          && (uri.getHost() + ":" + uri.getPort()).equals(address);
    } catch (URISyntaxException e) {
      return false;
    }
  }
}
