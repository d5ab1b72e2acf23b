package dev.ringfetch.rdma.verbs;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The address of an offer. Numbers are in network order.
 *
 * <pre>
 *   0        1         9        13       15       16        17
 *  +--------+---------+--------+--------+--------+---------+----------+
 *  | version| offer id| length |  port  | number | 4 or 16 | address  |  ... as many as the number
 *  +--------+---------+--------+--------+--------+---------+----------+
 * </pre>
 *
 * @param offer id that the listener knows it by.
 * @param length of the memory in bytes.
 * @param port at which the listener listens, at all addresses.
 * @param addresses of the device, in the order in which they are to be tried.
 */
record OfferDescriptor(long offer, int length, int port, List<InetAddress> addresses) {
  /** Largest number of addresses that one side sends. */
  static final int MAX_ADDRESSES = 16;

  private static final byte VERSION = 1;
  private static final int FIXED_LENGTH = 16;

  byte[] encode() {
    final ByteBuffer out = ByteBuffer.allocate(FIXED_LENGTH + MAX_ADDRESSES * 17);
    out.put(VERSION).putLong(offer).putInt(length).putShort((short) port);
    out.put((byte) addresses.size());
    for (final InetAddress address : addresses) {
      final byte[] bytes = address.getAddress();
      out.put((byte) bytes.length).put(bytes);
    }
    final byte[] encoded = new byte[out.position()];
    out.get(0, encoded);
    return encoded;
  }

  static OfferDescriptor decode(byte[] descriptor) throws IOException {
    final ByteBuffer in = ByteBuffer.wrap(descriptor);
    try {
      final byte version = in.get();
      if (version != VERSION) {
        throw new IOException("unknown descriptor: version=" + version);
      }
      final long offer = in.getLong();
      final int length = in.getInt();
      final int port = Short.toUnsignedInt(in.getShort());
      final int count = in.get();
      final List<InetAddress> addresses = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        addresses.add(address(in));
      }
      if (in.hasRemaining() || length <= 0 || length % 64 != 0 || addresses.isEmpty()) {
        throw malformed(descriptor, null);
      }
      return new OfferDescriptor(offer, length, port, addresses);
    } catch (BufferUnderflowException e) {
      throw malformed(descriptor, e);
    }
  }

  private static IOException malformed(byte[] descriptor, Exception cause) {
    return new IOException("malformed descriptor: bytes=" + descriptor.length, cause);
  }

  /** Reads the length of an address and the address. */
  static InetAddress address(ByteBuffer in) throws IOException {
    final byte[] bytes = new byte[in.get() == 4 ? 4 : 16];
    in.get(bytes);
    try {
      return InetAddress.getByAddress(bytes);
    } catch (UnknownHostException e) {
      throw new AssertionError("length of an address", e);
    }
  }
}
