package dev.ringfetch.fabric.shm;

import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.ConnectException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * The socket that shows whether the process of a directory lives. The kernel refuses connections to
 * it from the moment at which the process has ended, and nothing else that the process does, in
 * whichever class loader, closes it. The connections are never accepted: the process lives if a
 * connection succeeds, or if too many wait.
 */
record LivenessSocket(ServerSocketChannel socket) implements AutoCloseable {
  static final String NAME = "alive";

  private static final Logger LOGGER = System.getLogger(LivenessSocket.class.getName());
  private static final String UNFINISHED = "birth";
  private static final int BACKLOG = 1; // waiting connections cost memory until the close

  /**
   * Opens the socket of a directory of this process. Under its name it listens from the first
   * moment: between its binding and its listening it would look dead.
   *
   * @throws IOException when none can be created, because the path is too long, for instance.
   */
  static LivenessSocket open(Path directory) throws IOException {
    final Path unfinished = directory.resolve(UNFINISHED);
    final UnixDomainSocketAddress address = SessionAddress.socketAddress(unfinished);
    final ServerSocketChannel socket = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    boolean opened = false;
    try {
      socket.bind(address, BACKLOG);
      Files.move(unfinished, directory.resolve(NAME), StandardCopyOption.ATOMIC_MOVE);
      opened = true;
      return new LivenessSocket(socket);
    } finally {
      if (!opened) {
        Cleanup.close(socket);
        Cleanup.delete(unfinished);
      }
    }
  }

  /** Probes the socket of another process's directory. */
  static State probe(Path directory) {
    final Path path = directory.resolve(NAME);
    if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
      return State.NONE;
    }
    try (SocketChannel probe = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      probe.configureBlocking(false); // too many wait: an error, not one more that waits
      probe.connect(SessionAddress.socketAddress(path));
      return State.ALIVE;
    } catch (ConnectException e) { // no process listens
      LOGGER.log(Level.DEBUG, "{0} is of a process that has ended", directory);
      return State.DEAD;
    } catch (IOException e) { // too many wait; this process lacks something; it is gone by now
      LOGGER.log(
          Level.DEBUG, "taken for that of a living process: {0}: {1}", directory, e.toString());
      return State.ALIVE;
    }
  }

  @Override
  public void close() {
    Cleanup.close(socket);
  }

  /** The result of a probe. */
  enum State {
    /** The process lives, or is not known to be dead. */
    ALIVE,
    /** The process has ended. */
    DEAD,
    /** There is no socket: the process is of an earlier version, or could not create one. */
    NONE
  }
}
