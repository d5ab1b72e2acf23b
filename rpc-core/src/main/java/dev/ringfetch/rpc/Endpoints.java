package dev.ringfetch.rpc;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Comparison of the client's address on a TCP connection as the two sides see it. Where they see
 * different addresses, a proxy or an address translation stands between them, and may send the next
 * call to another server than the one that has opened the ring.
 */
final class Endpoints {
  /** System property that allows rings across proxies where no builder says. */
  static final String PROPERTY = "ringfetch.across.proxies";

  private static final int IPV4_LENGTH = 4;
  private static final int IPV6_LENGTH = 16;
  private static final byte[] UNKNOWN = {};

  private Endpoints() {}

  /** Address and port in network order; empty for what has none, as a Unix socket. */
  static byte[] encode(SocketAddress address) {
    if (!(address instanceof InetSocketAddress inet) || inet.getAddress() == null) {
      return UNKNOWN;
    }
    final byte[] ip = withoutMapping(inet.getAddress().getAddress());
    return ByteBuffer.allocate(ip.length + Short.BYTES)
        .put(ip)
        .putShort((short) inet.getPort())
        .array();
  }

  /** An IPv4 address as such, also where a socket of both kinds shows it as one of IPv6. */
  private static byte[] withoutMapping(byte[] ip) {
    if (ip.length != IPV6_LENGTH || ip[10] != -1 || ip[11] != -1) {
      return ip;
    }
    for (int i = 0; i < 10; i++) {
      if (ip[i] != 0) {
        return ip;
      }
    }
    return Arrays.copyOfRange(ip, IPV6_LENGTH - IPV4_LENGTH, IPV6_LENGTH);
  }

  /**
   * Describes the difference in one line; null when both sides see the same, or one sees no
   * address.
   *
   * @param own what the client sees, encoded.
   * @param seen what the server sees.
   */
  static String between(byte[] own, SocketAddress seen) {
    final byte[] server = encode(seen);
    if (own.length == 0 || server.length == 0 || Arrays.equals(own, server)) {
      return null;
    }
    return "a proxy or an address translation stands between: the client is at "
        + describe(own)
        + " and the server sees "
        + describe(server)
        + "; acrossProxies() of a builder allows a ring all the same";
  }

  private static String describe(byte[] endpoint) {
    final int length = endpoint.length - Short.BYTES;
    if (length != IPV4_LENGTH && length != IPV6_LENGTH) {
      return "an address of " + endpoint.length + " bytes";
    }
    try {
      final String ip = InetAddress.getByAddress(Arrays.copyOf(endpoint, length)).getHostAddress();
      return (length == IPV4_LENGTH ? ip : "[" + ip + "]")
          + ":"
          + (ByteBuffer.wrap(endpoint).getShort(length) & 0xFFFF);
    } catch (UnknownHostException e) { // of another length
      throw new AssertionError(e);
    }
  }
}
