package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.Connection;
import dev.ringfetch.examples.load.Side;
import dev.ringfetch.examples.process.ChildProcess;
import dev.ringfetch.examples.process.Rings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A {@link UnixServer} and a {@link BenchClient}, with a directory for their socket. */
final class UnixPair implements AutoCloseable {
  private final Path directory;
  private final ChildProcess server;
  private ChildProcess client;

  private UnixPair(Path directory, ChildProcess server) {
    this.directory = directory;
    this.server = server;
    Runtime.getRuntime().addShutdownHook(new Thread(this::delete)); // of an interrupted run
  }

  /** Starts both and makes the first call. */
  static PeerContender start(Setup setup, List<String> flags) throws IOException {
    final boolean direct = setup == Setup.direct;
    final Path directory = Files.createTempDirectory("ringfetch-bench-");
    final Path socket = directory.resolve("socket");
    final List<String> ofServer = new ArrayList<>(List.of("--socket", socket.toString()));
    if (direct) {
      ofServer.add("--direct");
    }
    final UnixPair pair =
        new UnixPair(directory, ChildProcess.start(flags, UnixServer.class, ofServer));
    try {
      pair.server.ask("listens");
      pair.client =
          ChildProcess.start(
              flags,
              BenchClient.class,
              Connection.arguments("unix://" + socket, Side.grpc, direct, new Rings()));
      pair.client.ask("connect");
      return new StubPeer(pair.client, pair.server, pair::close);
    } catch (IOException | RuntimeException e) {
      pair.close();
      throw e;
    }
  }

  @Override
  public void close() {
    try {
      if (client != null) {
        client.close();
      }
    } finally {
      server.close();
      delete();
    }
  }

  private void delete() {
    try {
      Files.deleteIfExists(directory.resolve("socket"));
      Files.deleteIfExists(directory);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
