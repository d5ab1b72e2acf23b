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
 * whichever class loader, closes it. The connections are never accepted: the sign is that a
 * connection succeeds, or that too many wait.
 */
final class SignOfLife implements AutoCloseable {
  static final String NAME = "alive";

  private static final Logger LOGGER = System.getLogger(SignOfLife.class.getName());
  private static final String UNFINISHED = "birth";
  private static final int BACKLOG = 1; // waiting connections cost memory until the close

  private final ServerSocketChannel socket;

  private SignOfLife(ServerSocketChannel socket) {
    this.socket = socket;
  }

  /**
   * Gives a directory of this process its sign. Under its name the socket listens from the first
   * moment: between its binding and its listening it would look dead.
   *
   * @throws IOException when none can be created, because the path is too long, for instance.
   */
  static SignOfLife give(Path directory) throws IOException {
    final Path unfinished = directory.resolve(UNFINISHED);
    final UnixDomainSocketAddress address = SessionAddress.socketAddress(unfinished);
    final ServerSocketChannel socket = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    boolean given = false;
    try {
      socket.bind(address, BACKLOG);
      Files.move(unfinished, directory.resolve(NAME), StandardCopyOption.ATOMIC_MOVE);
      given = true;
      return new SignOfLife(socket);
    } finally {
      if (!given) {
        Cleanup.close(socket);
        Cleanup.delete(unfinished);
      }
    }
  }

  /** Reads the sign of another process's directory. */
  static Reading read(Path directory) {
    final Path path = directory.resolve(NAME);
    if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
      return Reading.NONE;
    }
    try (SocketChannel probe = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      probe.configureBlocking(false); // too many wait: an error, not one more that waits
      probe.connect(SessionAddress.socketAddress(path));
      return Reading.ALIVE;
    } catch (ConnectException e) { // no process listens
      LOGGER.log(Level.DEBUG, "{0} is of a process that has ended", directory);
      return Reading.DEAD;
    } catch (IOException e) { // too many wait; this process lacks something; it is gone by now
      LOGGER.log(Level.DEBUG, "cannot tell whether a process lives: " + directory, e);
      return Reading.ALIVE;
    }
  }

  @Override
  public void close() {
    Cleanup.close(socket);
  }

  /** The result of reading a sign. */
  enum Reading {
    /** The process lives, or is not known to be dead. */
    ALIVE,
    /** The process has ended. */
    DEAD,
    /** There is no sign: the process is of an earlier version, or could not create one. */
    NONE
  }
}
