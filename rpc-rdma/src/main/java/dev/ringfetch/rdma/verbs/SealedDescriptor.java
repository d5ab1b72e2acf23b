package dev.ringfetch.rdma.verbs;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * The form of a descriptor that ends with a checksum, CRC32C in network order, and begins with a
 * byte for its kind: damage shows before a peer is asked for what the descriptor leads to.
 */
final class SealedDescriptor {
  private static final int SEAL_LENGTH = Integer.BYTES;

  private SealedDescriptor() {}

  /** Copies what was put into a buffer, and adds the checksum. */
  static byte[] seal(ByteBuffer out) {
    final int length = out.position();
    final byte[] sealed = new byte[length + SEAL_LENGTH];
    out.get(0, sealed, 0, length);
    ByteBuffer.wrap(sealed).putInt(length, crc(sealed, length));
    return sealed;
  }

  /** The contents after the first byte and before the checksum. */
  static ByteBuffer open(byte[] descriptor, byte kind) throws IOException {
    final int length = descriptor.length - SEAL_LENGTH;
    if (length < 1 || descriptor[0] != kind) {
      throw malformed(descriptor, null);
    }
    if (ByteBuffer.wrap(descriptor).getInt(length) != crc(descriptor, length)) {
      throw malformed(descriptor, null);
    }
    return ByteBuffer.wrap(descriptor, 1, length - 1);
  }

  static IOException malformed(byte[] descriptor, Exception cause) {
    return new IOException("malformed descriptor: bytes=" + descriptor.length, cause);
  }

  private static int crc(byte[] bytes, int length) {
    final CRC32C crc = new CRC32C();
    crc.update(bytes, 0, length);
    return (int) crc.getValue();
  }
}
