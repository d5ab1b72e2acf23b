package dev.ringfetch.rdma.verbs;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The address of a domain. Numbers are in network order.
 *
 * <pre>
 *   0      1           9        11       12        13
 *  +------+-----------+--------+--------+---------+----------+      +----------+
 *  | kind | domain id |  port  | number | 4 or 16 | address  |  ... | checksum |
 *  +------+-----------+--------+--------+---------+----------+      +----------+
 * </pre>
 *
 * @param domain id that the listener knows it by.
 * @param port at which the listener listens, at all addresses.
 * @param addresses of the device, in the order in which they are to be tried.
 */
record DomainDescriptor(long domain, int port, List<InetAddress> addresses) {
  private static final byte KIND = 'D';
  private static final int MAX_LENGTH = 16 + OfferDescriptor.MAX_ADDRESSES * 17;

  byte[] encode() {
    final ByteBuffer out = ByteBuffer.allocate(MAX_LENGTH);
    out.put(KIND).putLong(domain).putShort((short) port).put((byte) addresses.size());
    for (final InetAddress address : addresses) {
      final byte[] bytes = address.getAddress();
      out.put((byte) bytes.length).put(bytes);
    }
    return SealedDescriptor.seal(out);
  }

  static DomainDescriptor decode(byte[] descriptor) throws IOException {
    final ByteBuffer in = SealedDescriptor.open(descriptor, KIND);
    try {
      final long domain = in.getLong();
      final int port = Short.toUnsignedInt(in.getShort());
      final List<InetAddress> addresses = new ArrayList<>();
      for (int left = in.get(); left > 0; left--) {
        addresses.add(OfferDescriptor.address(in));
      }
      if (in.hasRemaining() || addresses.isEmpty()) {
        throw SealedDescriptor.malformed(descriptor, null);
      }
      return new DomainDescriptor(domain, port, addresses);
    } catch (BufferUnderflowException e) {
      throw SealedDescriptor.malformed(descriptor, e);
    }
  }
}
