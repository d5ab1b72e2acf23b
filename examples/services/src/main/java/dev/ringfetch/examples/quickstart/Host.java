package dev.ringfetch.examples.quickstart;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;

/** By which name or address the clients of this machine reach a server on it. */
final class Host {
  private Host() {}

  /**
   * An address of a network interface that is up: an RDMA device cannot be reached as localhost.
   */
  static String ofInterface() throws SocketException {
    return NetworkInterface.networkInterfaces()
        .filter(Host::isUsable)
        .flatMap(NetworkInterface::inetAddresses)
        .filter(address -> address.getAddress().length == 4)
        .map(InetAddress::getHostAddress)
        .findFirst()
        .orElse("localhost");
  }

  private static boolean isUsable(NetworkInterface network) {
    try {
      return network.isUp() && !network.isLoopback();
    } catch (SocketException e) {
      return false; // it has just gone
    }
  }
}
