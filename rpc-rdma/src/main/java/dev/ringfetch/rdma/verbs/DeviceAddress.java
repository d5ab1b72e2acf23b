package dev.ringfetch.rdma.verbs;

import java.net.InetAddress;

/**
 * An address of this host, or of a peer, behind which there is an RDMA device.
 *
 * @param host the address.
 * @param linkLayer of the device's port: {@link PortLayout#INFINIBAND}, {@link
 *     PortLayout#ETHERNET}.
 * @param context the device's, or 0 at a peer.
 */
record DeviceAddress(InetAddress host, int linkLayer, long context) {
  /** No bits in common, not even those that say what kind of address it is. */
  static final int UNREACHABLE = -1;

  /**
   * How near another address is: leading bits that both have in common, or {@link #UNREACHABLE}.
   * Routes are not known here; addresses of one network have more in common than others.
   */
  int nearness(DeviceAddress other) {
    byte[] mine = host.getAddress();
    byte[] others = other.host.getAddress();
    if (mine.length != others.length || linkLayer != other.linkLayer) {
      return UNREACHABLE;
    }
    for (int i = 0; i < mine.length; i++) {
      int difference = (mine[i] ^ others[i]) & 0xFF;
      if (difference != 0) {
        return i * Byte.SIZE + Integer.numberOfLeadingZeros(difference) - 24;
      }
    }
    return mine.length * Byte.SIZE;
  }
}
