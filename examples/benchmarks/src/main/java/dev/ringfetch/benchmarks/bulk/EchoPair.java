package dev.ringfetch.benchmarks.bulk;

import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * A pair of lanes for calls: one there and one back, and a process with an {@link EchoEnd} at each
 * end.
 */
public final class EchoPair implements AutoCloseable {
  private static final Path DIRECTORY = Path.of("/dev/shm");

  private final ChildProcess server;
  private final ChildProcess client;

  private EchoPair(ChildProcess server, ChildProcess client) {
    this.server = server;
    this.client = client;
  }

  /** Makes the memory and starts the processes. */
  public static EchoPair start(LaneKind kind, List<String> flags) throws IOException {
    final List<String> ofBoth = new ArrayList<>(flags);
    ofBoth.addAll(kind.flags());
    final Path file = Files.createTempFile(DIRECTORY, "ringfetch-bench-", ".echo");
    try {
      Files.write(file, new byte[EchoProcess.length(kind)]);
      final List<String> arguments = List.of("--kind", kind.name(), "--file", file.toString());
      return join(
          ChildProcess.start(ofBoth, EchoProcess.class, arguments),
          server -> ChildProcess.start(ofBoth, EchoProcess.class, arguments),
          "mapped");
    } finally {
      Files.delete(file);
    }
  }

  /** How a client's process is started beside its server's. */
  @FunctionalInterface
  interface Client {
    ChildProcess start(ChildProcess server) throws IOException;
  }

  /** Starts the client and waits until both are ready; ends both if that fails. */
  static EchoPair join(ChildProcess server, Client client, String ready) throws IOException {
    ChildProcess started = null;
    try {
      started = client.start(server);
      started.ask(ready);
      server.ask(ready);
      return new EchoPair(server, started);
    } catch (IOException | RuntimeException e) {
      if (started != null) {
        started.close();
      }
      server.close();
      throw e;
    }
  }

  /** The server's process. */
  public ChildProcess server() {
    return server;
  }

  /** The client's process. */
  public ChildProcess client() {
    return client;
  }

  /**
   * Makes the client issue calls one after the other, and the server answer them, for some time.
   */
  public Figures round(int payload, long millis) {
    return round(payload, 1, millis);
  }

  /**
   * Makes the client issue calls, and the server answer them, for some time.
   *
   * @param payload of an answer, in bytes; at most {@link EchoEnd#MAX_PAYLOAD}. Requests have 32.
   * @param inFlight number of calls in flight: the lane must have room for so many requests.
   */
  public Figures round(int payload, int inFlight, long millis) {
    final CompletableFuture<Answer> echoed =
        CompletableFuture.supplyAsync(() -> server.ask("echo", payload));
    final Figures figures = Figures.parse(client.ask("round", payload, inFlight, millis));
    final Answer unused = echoed.join();
    return figures;
  }

  @Override
  public void close() {
    client.close();
    server.close();
  }
}
