package dev.ringfetch.benchmarks.broker;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Kafka as it is downloaded, in a JVM of its own: one node that is broker and controller. It
 * acknowledges records without syncing them, as is its default.
 */
public final class KafkaServer implements AutoCloseable {
  /** Environment variable with the class path of Kafka's server. */
  public static final String CLASS_PATH = "KAFKA_CLASS_PATH";

  private static final String HOST = "localhost";
  private static final String HEAP = "-Xmx1g";
  private static final int START_SECONDS = 60;
  private static final int END_SECONDS = 30;

  private final Process process;
  private final Thread killer;
  private final int port;

  private KafkaServer(Process process, int port) {
    this.process = process;
    this.port = port;
    killer = new Thread(process::destroyForcibly, "end-kafka");
    Runtime.getRuntime().addShutdownHook(killer);
  }

  /** The class path of Kafka's server; empty if there is none. */
  public static Optional<String> classPath() {
    return Optional.ofNullable(System.getenv(CLASS_PATH)).filter(path -> !path.isBlank());
  }

  /** Starts a server and waits until it listens. */
  public static KafkaServer start(String classPath, Path directory) throws IOException {
    final int port = freePort();
    final int controller = freePort();
    final Path settings = directory.resolve("server.properties");
    Files.write(
        settings,
        List.of(
            "process.roles=broker,controller",
            "node.id=1",
            "controller.quorum.voters=1@" + HOST + ":" + controller,
            "listeners=PLAINTEXT://"
                + HOST
                + ":"
                + port
                + ",CONTROLLER://"
                + HOST
                + ":"
                + controller,
            "advertised.listeners=PLAINTEXT://" + HOST + ":" + port,
            "controller.listener.names=CONTROLLER",
            "listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
            "log.dirs=" + directory.resolve("logs"),
            "offsets.topic.replication.factor=1",
            "auto.create.topics.enable=false"));
    final Path log = directory.resolve("server.log");
    final List<String> format = new ArrayList<>(command(classPath));
    format.addAll(
        List.of("kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qg", "-c"));
    format.add(settings.toString());
    await(begin(format, log), log);
    final List<String> serve = new ArrayList<>(command(classPath));
    serve.addAll(List.of("kafka.Kafka", settings.toString()));
    final KafkaServer server = new KafkaServer(begin(serve, log), port);
    boolean listens = false;
    try {
      server.awaitListening(log);
      listens = true;
    } finally {
      if (!listens) {
        server.close();
      }
    }
    return server;
  }

  private static List<String> command(String classPath) {
    return List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(), HEAP, "-cp", classPath);
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  private static Process begin(List<String> command, Path log) throws IOException {
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(Redirect.appendTo(log.toFile()))
        .start();
  }

  private static void await(Process process, Path log) throws IOException {
    try {
      if (!process.waitFor(START_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
        throw new IOException("Kafka's directory is not formatted: " + Files.readString(log));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    } finally {
      process.destroyForcibly();
    }
  }

  private void awaitListening(Path log) throws IOException {
    final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
    while (true) {
      try (Socket socket = new Socket()) {
        socket.connect(new InetSocketAddress(HOST, port), 1_000);
        return;
      } catch (IOException e) {
        if (!process.isAlive() || System.nanoTime() - endNs > 0) {
          throw new IOException("Kafka does not listen: " + Files.readString(log), e);
        }
      }
      try {
        TimeUnit.MILLISECONDS.sleep(100);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException("interrupted", e);
      }
    }
  }

  /** The target of its clients. */
  public String target() {
    return HOST + ":" + port;
  }

  /** Id of the process. */
  public long pid() {
    return process.pid();
  }

  @Override
  public void close() {
    process.destroy();
    try {
      if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
      Runtime.getRuntime().removeShutdownHook(killer);
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    } catch (IllegalStateException e) {
      // This process is ending too: the hook has run or will, and does no harm.
    }
  }
}
