package dev.ringfetch.fabric.shm;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;

/**
 * The address of an offer, in the form of a {@link FileAddress}.
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
    return new FileAddress(process, session, bell, length, nonce).encode(VERSION);
  }

  static SessionAddress decode(byte[] descriptor) throws IOException {
    final FileAddress read = FileAddress.decode(descriptor, VERSION, NO_BELL);
    return new SessionAddress(
        read.process(), read.number(), read.part(), read.length(), read.nonce());
  }
}
