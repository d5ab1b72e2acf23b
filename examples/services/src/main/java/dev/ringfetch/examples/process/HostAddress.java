package dev.ringfetch.examples.process;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;

/**
 * The address at which processes of this host reach each other over RDMA devices, which do not
 * serve the loopback address.
 */
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
