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

/** Lanes as a way for calls: one there and one back, and a process with an {@link EchoEnd} each. */
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

  /** Starts the client and has both say that they are ready; ends what runs if that fails. */
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

  /** The process that answers. */
  public ChildProcess server() {
    return server;
  }

  /** The process that asks. */
  public ChildProcess client() {
    return client;
  }

  /** Has one make calls one after the other, and the other answer them, for some time. */
  public Figures round(int payload, long millis) {
    return round(payload, 1, millis);
  }

  /**
   * Has one make calls, and the other answer them, for some time.
   *
   * @param payload of an answer, in bytes; at most {@link EchoEnd#MAX_PAYLOAD}. Requests have 32.
   * @param inFlight how many are on their way at once: so many requests have to have room.
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
