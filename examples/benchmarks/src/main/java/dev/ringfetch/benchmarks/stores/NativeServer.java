package dev.ringfetch.benchmarks.stores;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * A server that is no JVM: an installed program at a Unix socket or a port. It ends when this
 * process ends, however that ends: a shell between them waits for the end of its input.
 */
public final class NativeServer implements AutoCloseable {
  /** Prints the id of the server's process first. A signal from the terminal ends the parent. */
  private static final String SCRIPT =
      "trap '' INT TERM HUP; \"$@\" </dev/null >/dev/null & echo $!; cat >/dev/null;"
          + " { kill $!; wait $!; } 2>/dev/null"; // of one that was killed the shell would tell

  private static final List<String> MORE_FOLDERS =
      List.of("/usr/bin", "/usr/local/bin", "/usr/sbin");
  private static final String ALONE = "default"; // name of the only member of an etcd
  private static final int START_SECONDS = 20;
  private static final int POLL_MILLIS = 10;
  private static final int END_SECONDS = 20;

  private final Process shell;
  private final long pid;

  private NativeServer(Process shell, long pid) {
    this.shell = shell;
    this.pid = pid;
  }

  /** Where a program is installed, if it is. */
  public static Optional<Path> find(String program) {
    final List<String> folders =
        new ArrayList<>(
            List.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, 0)));
    folders.addAll(MORE_FOLDERS);
    return folders.stream()
        .filter(folder -> !folder.isEmpty())
        .map(folder -> Path.of(folder, program))
        .filter(Files::isExecutable)
        .findFirst();
  }

  /** Starts a Redis server. */
  public static NativeServer redis(Path program, Path socket) throws IOException {
    return start(program, RedisStore.serverArguments(socket), socket);
  }

  /**
   * Starts a Redis server that keeps a log of its writes beside the socket.
   *
   * @param appendFsync when it syncs that: always, or everysec
   */
  public static NativeServer redis(Path program, Path socket, String appendFsync)
      throws IOException {
    return start(program, RedisStore.serverArguments(socket, appendFsync), socket);
  }

  /** Waits until the Redis server at a socket answers with an entry. */
  public static void awaitRedis(Path socket, long number) {
    while (!RedisStore.isAnswered(socket, number)) {
      Thread.onSpinWait();
    }
  }

  /** Kills the server, which can do nothing about it. */
  public void kill() {
    ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
    close();
  }

  /** Starts a memcached server. */
  public static NativeServer memcached(Path program, Path socket) throws IOException {
    return start(program, MemcachedStore.serverArguments(socket), socket);
  }

  /** Starts an etcd server of one member, whose clients come to the port, over TCP. */
  public static NativeServer etcd(Path program, Path folder, int port) throws IOException {
    return etcd(program, folder, ALONE, port, Map.of(ALONE, freePort()));
  }

  /**
   * Starts a member of an etcd cluster; it listens before the others are there.
   *
   * @param folder of its own; what it has left there is taken up
   * @param name of the member
   * @param port for clients, over TCP
   * @param peerPorts of all members, by their names
   */
  public static NativeServer etcd(
      Path program, Path folder, String name, int port, Map<String, Integer> peerPorts)
      throws IOException {
    return start(
        program,
        EtcdStore.serverArguments(folder, name, port, peerPorts),
        folder,
        new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
  }

  /** A port at which nothing listens now. */
  public static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private static NativeServer start(Path program, List<String> arguments, Path socket)
      throws IOException {
    return start(program, arguments, socket.getParent(), UnixDomainSocketAddress.of(socket));
  }

  private static NativeServer start(
      Path program, List<String> arguments, Path folder, SocketAddress address) throws IOException {
    final List<String> command =
        new ArrayList<>(List.of("/bin/sh", "-c", SCRIPT, "sh", program.toString()));
    command.addAll(arguments);
    final Process shell =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    final String said =
        new BufferedReader(new InputStreamReader(shell.getInputStream(), StandardCharsets.UTF_8))
            .readLine();
    final NativeServer server = new NativeServer(shell, said == null ? -1 : Long.parseLong(said));
    boolean listens = false;
    try {
      server.awaitSocket(program, address);
      listens = true;
      return server;
    } finally {
      if (!listens) {
        server.close();
      }
    }
  }

  private void awaitSocket(Path program, SocketAddress address) throws IOException {
    final long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
    while (!accepts(address)) {
      if (System.nanoTime() - deadlineNs > 0 || !ProcessHandle.of(pid).isPresent()) {
        throw new IOException(program + " does not listen at " + address);
      }
      try {
        TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException("interrupted while waiting for " + program, e);
      }
    }
  }

  private static boolean accepts(SocketAddress address) {
    try (SocketChannel channel = SocketChannel.open(address)) {
      return channel.isConnected();
    } catch (IOException e) {
      return false; // not yet
    }
  }

  /** Id of the server's process. */
  public long pid() {
    return pid;
  }

  /** Ends the server. */
  @Override
  public void close() {
    try {
      shell.getOutputStream().close();
      if (!shell.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
        ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
      }
    } catch (IOException e) {
      System.err.println("process " + pid + " may go on: " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
