package dev.ringfetch.benchmarks.bulk;

import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.ChildProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Memory alone as a way for calls: a lane there and one back, and a process at each end. */
public final class EchoPair implements AutoCloseable {
  private static final Path DIRECTORY = Path.of("/dev/shm");

  private final Path file;
  private final ChildProcess server;
  private final ChildProcess client;

  private EchoPair(Path file, ChildProcess server, ChildProcess client) {
    this.file = file;
    this.server = server;
    this.client = client;
  }

  /** Makes the memory and starts the processes. */
  public static EchoPair start(List<String> flags) throws IOException {
    final Path file = Files.createTempFile(DIRECTORY, "ringfetch-bench-", ".echo");
    Files.write(file, new byte[EchoProcess.LENGTH]);
    final List<String> arguments = List.of("--file", file.toString());
    final ChildProcess server = ChildProcess.start(flags, EchoProcess.class, arguments);
    try {
      return new EchoPair(file, server, ChildProcess.start(flags, EchoProcess.class, arguments));
    } catch (IOException | RuntimeException e) {
      server.close();
      throw e;
    }
  }

  /** Waits until both have the memory, and takes its name away. */
  public void connect() throws IOException {
    server.ask("mapped");
    client.ask("mapped");
    Files.delete(file);
  }

  /** Has one make calls, and the other answer them, for some time. */
  public Figures round(long millis) {
    final CompletableFuture<Answer> echoed =
        CompletableFuture.supplyAsync(() -> server.ask("echo"));
    final Figures figures = Figures.parse(client.ask("round", millis));
    final Answer unused = echoed.join();
    return figures;
  }

  @Override
  public void close() {
    client.close();
    server.close();
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
