package dev.ringfetch.examples.process;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;

/** Where processes of this host reach each other if not at the loopback: RDMA devices never do. */
public final class HostAddress {
  private HostAddress() {}

  /**
   * The first IPv4 address of a network interface that is up.
   *
   * @throws IOException if there is none.
   */
  public static InetAddress ofInterface() throws IOException {
    for (final NetworkInterface network : NetworkInterface.networkInterfaces().toList()) {
      if (network.isUp() && !network.isLoopback()) {
        for (final InetAddress found : network.inetAddresses().toList()) {
          if (found instanceof Inet4Address) {
            return found;
          }
        }
      }
    }
    throw new IOException("no IPv4 address but the loopback's");
  }
}
