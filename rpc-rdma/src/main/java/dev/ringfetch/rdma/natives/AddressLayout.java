package dev.ringfetch.rdma.natives;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Socket addresses of both families as {@link ConnectionManager} takes and gives them. Ports and
 * addresses are in network order, families and scopes in the host's.
 */
public final class AddressLayout {
  /** Bytes in which either family has room. */
  public static final int SIZE = 28;

  /** 2 bytes. */
  public static final int FAMILY = 0;

  /** Family: IPv4. */
  public static final int INET = 2;

  /** Family: IPv6. */
  public static final int INET6 = 10;

  /** 2 bytes, in both families. */
  public static final int PORT = 2;

  /** 4 bytes. */
  public static final int INET_ADDRESS = 4;

  /** 16 bytes. */
  public static final int INET6_ADDRESS = 8;

  /** 4 bytes: index of a link-local address's interface. */
  public static final int INET6_SCOPE = 24;

  private AddressLayout() {}

  /**
   * Writes a resolved address to the first {@link #SIZE} bytes of a buffer.
   *
   * @throws IllegalArgumentException if the address is not resolved.
   */
  public static void encode(InetSocketAddress address, ByteBuffer out) {
    final InetAddress host = address.getAddress();
    if (host == null) {
      throw new IllegalArgumentException("unresolved address=" + address);
    }
    final byte[] bytes = host.getAddress();
    final boolean inet6 = host instanceof Inet6Address;
    out.put(0, new byte[SIZE]);
    out.order(ByteOrder.nativeOrder()).putShort(FAMILY, (short) (inet6 ? INET6 : INET));
    if (inet6) {
      out.putInt(INET6_SCOPE, ((Inet6Address) host).getScopeId());
    }
    out.put(inet6 ? INET6_ADDRESS : INET_ADDRESS, bytes);
    out.put(PORT, (byte) (address.getPort() >>> 8)).put(PORT + 1, (byte) address.getPort());
  }

  /** Reads an address from the first {@link #SIZE} bytes of a buffer; null if there is none. */
  public static InetSocketAddress decode(ByteBuffer in) {
    final int family = in.order(ByteOrder.nativeOrder()).getShort(FAMILY);
    if (family != INET && family != INET6) {
      return null;
    }
    final byte[] bytes = new byte[family == INET6 ? 16 : 4];
    in.get(family == INET6 ? INET6_ADDRESS : INET_ADDRESS, bytes);
    final int port = ((in.get(PORT) & 0xFF) << 8) | (in.get(PORT + 1) & 0xFF);
    try {
      final InetAddress host =
          family == INET6 && in.getInt(INET6_SCOPE) != 0
              ? Inet6Address.getByAddress(null, bytes, in.getInt(INET6_SCOPE))
              : InetAddress.getByAddress(bytes);
      return new InetSocketAddress(host, port);
    } catch (UnknownHostException e) {
      throw new AssertionError("length of an address", e);
    }
  }
}
