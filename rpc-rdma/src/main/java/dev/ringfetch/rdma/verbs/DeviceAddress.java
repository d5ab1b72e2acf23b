package dev.ringfetch.rdma.verbs;

import com.ibm.disni.verbs.IbvContext;
import dev.ringfetch.rdma.natives.PortLayout;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.List;

/**
 * An address of this host, or of a peer, behind which there is an RDMA device.
 *
 * @param host the address.
 * @param linkLayer of the device's port: {@link PortLayout#INFINIBAND}, {@link
 *     PortLayout#ETHERNET}.
 * @param context the device's, or null at a peer.
 */
record DeviceAddress(InetAddress host, int linkLayer, IbvContext context) {
  /** Distance of an address that cannot be reached: it is of another kind. */
  static final int UNREACHABLE = Integer.MAX_VALUE;

  /**
   * How far another address is: bits from the first on that differs, or {@link #UNREACHABLE}.
   * Routes are not known here; addresses of one network are nearer than others.
   */
  int distance(DeviceAddress other) {
    final byte[] mine = host.getAddress();
    final byte[] others = other.host.getAddress();
    if (mine.length != others.length || linkLayer != other.linkLayer) {
      return UNREACHABLE;
    }
    final int first = Arrays.mismatch(mine, others);
    if (first < 0) {
      return 0;
    }
    final int difference = (mine[first] ^ others[first]) & 0xFF;
    return (mine.length - first) * Byte.SIZE - (Integer.numberOfLeadingZeros(difference) - 24);
  }

  /** How far the nearest of several is, or {@link #UNREACHABLE}. */
  int distance(List<DeviceAddress> others) {
    return others.stream().mapToInt(this::distance).min().orElse(UNREACHABLE);
  }
}
