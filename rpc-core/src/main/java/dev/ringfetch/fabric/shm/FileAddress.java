package dev.ringfetch.fabric.shm;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The bytes of an address. It consists of names and numbers, never paths: the peer resolves them
 * below its own root, so no descriptor can make it open anything else.
 *
 * <pre>
 *   0        1        5        9        13               29       30
 *  +--------+--------+--------+--------+----------------+--------+----------------+
 *  | version| number |  part  | length |     nonce      |  name  | process name   |
 *  |        |        |        |        |                | length | (ASCII)        |
 *  +--------+--------+--------+--------+----------------+--------+----------------+
 * </pre>
 *
 * @param process name of the owner's directory.
 * @param number of the file, or group of files, in it.
 * @param part as the version says.
 * @param length of the memory in bytes.
 * @param nonce that the file must carry.
 */
record FileAddress(String process, int number, int part, int length, Nonce nonce) {
  private static final int FIXED_LENGTH = 30;

  byte[] encode(byte version) {
    final byte[] name = process.getBytes(US_ASCII);
    final ByteBuffer out =
        ByteBuffer.allocate(FIXED_LENGTH + name.length).order(ByteOrder.LITTLE_ENDIAN);
    out.put(version).putInt(number).putInt(part).putInt(length);
    nonce.put(out);
    out.put((byte) name.length).put(name);
    return out.array();
  }

  /**
   * Reads an address.
   *
   * @param minPart smallest number of a part.
   * @throws IOException if it is of another version, or malformed.
   */
  static FileAddress decode(byte[] descriptor, byte version, int minPart) throws IOException {
    final ByteBuffer in = ByteBuffer.wrap(descriptor).order(ByteOrder.LITTLE_ENDIAN);
    try {
      final byte found = in.get();
      if (found != version) {
        throw new IOException("unknown descriptor: version=" + found + " expected=" + version);
      }
      final int number = in.getInt();
      final int part = in.getInt();
      final int length = in.getInt();
      final Nonce nonce = Nonce.get(in);
      final byte[] name = new byte[Byte.toUnsignedInt(in.get())];
      in.get(name);
      final String process = new String(name, US_ASCII);
      if (in.hasRemaining() || length <= 0 || part < minPart || !ProcessDirectory.isName(process)) {
        throw new IOException(
            "malformed descriptor: bytes=" + descriptor.length + " length=" + length);
      }
      return new FileAddress(process, number, part, length, nonce);
    } catch (BufferUnderflowException e) {
      throw new IOException("malformed descriptor: bytes=" + descriptor.length, e);
    }
  }
}
