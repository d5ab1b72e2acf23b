package dev.ringfetch.fabric.shm;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;

/**
 * The address of an offer. It consists of names and numbers, never paths: the peer resolves them
 * below its own root, so no descriptor can make it open anything else.
 *
 * <pre>
 *   0        1        5        9        13               29       30
 *  +--------+--------+--------+--------+----------------+--------+----------------+
 *  | version| session|  bell  | length |     nonce      |  name  | process name   |
 *  |        | number | number |        |                | length | (ASCII)        |
 *  +--------+--------+--------+--------+----------------+--------+----------------+
 * </pre>
 *
 * @param process name of the offering process's directory.
 * @param session number of the file in it.
 * @param bell number of the bell socket in it, or {@link #NO_BELL}.
 * @param length of the session's memory in bytes.
 * @param nonce that the file must carry.
 */
record SessionAddress(String process, int session, int bell, int length, Nonce nonce) {
  /** Instead of a bell's number: marks memory that a connection registered beside its session's. */
  static final int NO_BELL = -1;

  private static final byte VERSION = 1;
  private static final int FIXED_LENGTH = 30;

  /** Capacity of {@code sockaddr_un}, without the terminating zero. */
  private static final int SOCKET_PATH_LIMIT = 107;

  /** Returns whether it is the address of registered memory, to which no peer connects. */
  boolean isRegistered() {
    return bell == NO_BELL;
  }

  /** Its file, in the directory of its process. */
  Path path(Path directory) {
    return directory.resolve(name());
  }

  /** Name of its file. */
  String name() {
    return (isRegistered() ? "registered-" : "session-") + session;
  }

  static Path bellPath(Path directory, int bell) {
    return directory.resolve("bell-" + bell);
  }

  /**
   * Address of a socket.
   *
   * @throws IOException when the path does not fit into one; the kernel's own message is less
   *     clear.
   */
  static UnixDomainSocketAddress socketAddress(Path path) throws IOException {
    final int length = path.toString().getBytes(UTF_8).length;
    if (length > SOCKET_PATH_LIMIT) {
      throw new IOException(
          "the path of a socket is too long, use a shorter shm directory: path="
              + path
              + " length="
              + length
              + " limit="
              + SOCKET_PATH_LIMIT);
    }
    return UnixDomainSocketAddress.of(path);
  }

  byte[] encode() {
    final byte[] name = process.getBytes(US_ASCII);
    final ByteBuffer out =
        ByteBuffer.allocate(FIXED_LENGTH + name.length).order(ByteOrder.LITTLE_ENDIAN);
    out.put(VERSION).putInt(session).putInt(bell).putInt(length);
    nonce.put(out);
    out.put((byte) name.length).put(name);
    return out.array();
  }

  static SessionAddress decode(byte[] descriptor) throws IOException {
    final ByteBuffer in = ByteBuffer.wrap(descriptor).order(ByteOrder.LITTLE_ENDIAN);
    try {
      final byte version = in.get();
      if (version != VERSION) {
        throw new IOException("unknown descriptor: version=" + version);
      }
      final int session = in.getInt();
      final int bell = in.getInt();
      final int length = in.getInt();
      final Nonce nonce = Nonce.get(in);
      final byte[] name = new byte[Byte.toUnsignedInt(in.get())];
      in.get(name);
      final String process = new String(name, US_ASCII);
      if (in.hasRemaining() || length <= 0 || bell < NO_BELL || !ProcessDirectory.isName(process)) {
        throw new IOException(
            "malformed descriptor: bytes=" + descriptor.length + " length=" + length);
      }
      return new SessionAddress(process, session, bell, length, nonce);
    } catch (BufferUnderflowException e) {
      throw new IOException("malformed descriptor: bytes=" + descriptor.length, e);
    }
  }
}
