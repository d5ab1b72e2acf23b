package dev.ringfetch.index.zookeeper;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The handle of the process of an {@link EmbeddedZooKeeper}. The process ends when the launcher
 * closes the handle, or ends in any way. Its output goes to the file {@code zookeeper.log} in its
 * data directory.
 */
public final class ZooKeeperProcess implements AutoCloseable {
  /** Name of the file of its output, in its data directory. */
  public static final String LOG = "zookeeper.log";

  private static final int START_SECONDS = 90;
  private static final int END_SECONDS = 20;

  private final Process process;
  private final String address;

  private ZooKeeperProcess(Process process, String address) {
    this.process = process;
    this.address = address;
  }

  /**
   * Starts a server at the loopback interface; otherwise like {@link #start(Path, String, int)}.
   */
  public static ZooKeeperProcess start(Path directory, int port) throws IOException {
    return start(directory, "127.0.0.1", port);
  }

  /**
   * Starts a server, and waits until it listens.
   *
   * @param directory of its data; created if there is none
   * @param host where it listens
   * @param port 0 for any
   * @throws IOException if it does not start; the text has its output
   */
  public static ZooKeeperProcess start(Path directory, String host, int port) throws IOException {
    Files.createDirectories(directory);
    final Path log = directory.resolve(LOG);
    final Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-Xss512k",
                "-XX:+IgnoreUnrecognizedVMOptions", // a later JVM may lack the next option
                "-XX:+NeverActAsServerClassMachine", // the serial collector, unless one is named
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                EmbeddedZooKeeper.class.getName(),
                directory.toString(),
                host,
                Integer.toString(port))
            .redirectError(Redirect.appendTo(log.toFile()))
            .start();
    try {
      return new ZooKeeperProcess(process, readAddress(process, log));
    } catch (IOException | RuntimeException e) {
      process.destroyForcibly();
      throw e;
    }
  }

  private static String readAddress(Process process, Path log) throws IOException {
    final BufferedReader output = process.inputReader();
    final CompletableFuture<String> line =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return String.valueOf(output.readLine());
              } catch (IOException e) {
                return e.toString();
              }
            },
            reading -> {
              final Thread thread = new Thread(reading, "zookeeper-output");
              thread.setDaemon(true);
              thread.start();
            });
    String said;
    try {
      said = line.get(START_SECONDS, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      said = "nothing for " + START_SECONDS + " s";
    } catch (ExecutionException e) {
      said = e.toString();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while ZooKeeper started", e);
    }
    if (!said.startsWith(EmbeddedZooKeeper.READY)) {
      throw new IOException(
          "ZooKeeper does not start: it says " + said + "; log=" + log + "\n" + lastLines(log));
    }
    return said.substring(EmbeddedZooKeeper.READY.length());
  }

  private static String lastLines(Path log) throws IOException {
    final List<String> lines =
        Files.readAllLines(log, StandardCharsets.ISO_8859_1); // any byte is legal
    return String.join("\n", lines.subList(Math.max(0, lines.size() - 20), lines.size()));
  }

  /** Its address: host and port. */
  public String address() {
    return address;
  }

  /** Its port. */
  public int port() {
    return Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
  }

  /** Id of the process. */
  public long pid() {
    return process.pid();
  }

  /** Whether it runs. */
  public boolean isAlive() {
    return process.isAlive();
  }

  /** Kills the process (SIGKILL), and waits for its end. */
  public void kill() {
    process.destroyForcibly();
    awaitEnd();
  }

  /** Stops the process in order, and waits for its end. */
  @Override
  public void close() {
    try {
      process.getOutputStream().close();
    } catch (IOException e) {
      // The process has ended, or does not read: the wait below decides.
    }
    awaitEnd();
  }

  private void awaitEnd() {
    try {
      if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        process.waitFor(END_SECONDS, TimeUnit.SECONDS);
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
