package dev.ringfetch.fabric.shm;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.nio.channels.SocketChannel;
import java.nio.file.attribute.UserPrincipal;
import jdk.net.ExtendedSocketOptions;

/**
 * The credentials of the process at the other end of a Unix-domain socket. This is the only class
 * that refers to {@code jdk.net}: a Java image or a graph of modules may lack that module, so its
 * availability is checked first.
 */
final class PeerCredentials {
  private PeerCredentials() {}

  /** Returns in one line why credentials cannot be read in this process, or null if they can. */
  static String unavailability() {
    try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      return channel.supportedOptions().contains(ExtendedSocketOptions.SO_PEERCRED)
          ? null
          : "this Java does not tell the user of a socket's other end (SO_PEERCRED)";
    } catch (LinkageError e) {
      return "shm needs the Java module jdk.net, to tell the user of a peer: start java with"
          + " --add-modules jdk.net, and have the module in an image that jlink makes";
    } catch (IOException | UnsupportedOperationException e) {
      return "shm needs Unix-domain sockets: " + e.getMessage();
    }
  }

  /** The user that the process at the other end runs as. */
  static UserPrincipal user(SocketChannel channel) throws IOException {
    return channel.getOption(ExtendedSocketOptions.SO_PEERCRED).user();
  }
}
