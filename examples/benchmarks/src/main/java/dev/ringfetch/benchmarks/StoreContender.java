package dev.ringfetch.benchmarks;

import dev.ringfetch.benchmarks.stores.NativeServer;
import dev.ringfetch.benchmarks.stores.StoreClient;
import dev.ringfetch.benchmarks.stores.StoreKind;
import dev.ringfetch.examples.load.Side;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.ChildProcess;
import dev.ringfetch.examples.process.Rings;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A side of {@link IndexBench} that runs: its client's process, the process of its server, which is
 * the client's where there is none, and another client that writes, once there is need of it.
 */
final class StoreContender implements AutoCloseable {
  /** Starts clients of a contender. */
  private interface Starter {
    ChildProcess start(StoreKind kind) throws IOException;
  }

  private final ChildProcess client;
  private final long server;
  private final StoreKind writerKind;
  private final Starter starter;
  private ChildProcess writer;

  private StoreContender(StoreKind kind, long server, StoreKind writerKind, Starter starter)
      throws IOException {
    this.client = starter.start(kind);
    this.server = server < 0 ? client.pid() : server;
    this.writerKind = writerKind;
    this.starter = starter;
  }

  /**
   * What all contenders of a run have in common.
   *
   * @param entries of each store.
   * @param seed of what is drawn.
   * @param flags of the JVMs.
   */
  record Settings(int entries, long seed, Rings rings, List<String> flags) {}

  /** Starts a side, and its server if it does not run yet. */
  static StoreContender start(StoreSide side, StoreServers servers, Settings settings)
      throws IOException {
    return switch (side) {
      case ringfetch -> ofIndex(StoreKind.stub, servers, settings);
      case ordered -> ofIndex(StoreKind.orderedStub, servers, settings);
      case echo -> ofIndex(StoreKind.echo, servers, settings);
      case direct -> ofIndex(StoreKind.direct, servers, settings);
      case orderedDirect -> ofIndex(StoreKind.orderedDirect, servers, settings);
      case grpc -> {
        final ChildProcess map = servers.map();
        yield ofChannel(StoreKind.stub, map, Side.grpc, settings);
      }
      case chronicle -> ofFile(StoreKind.chronicle, -1, servers.file(side), settings);
      case lmdb -> ofFile(StoreKind.lmdb, -1, servers.file(side), settings);
      case redis ->
          ofFile(StoreKind.redis, servers.redis(program(side)).pid(), servers.file(side), settings);
      case redisSorted ->
          ofFile(
              StoreKind.redisSorted,
              servers.redisSorted(program(side)).pid(),
              servers.file(side),
              settings);
      case memcached ->
          ofFile(
              StoreKind.memcached,
              servers.memcached(program(side)).pid(),
              servers.file(side),
              settings);
    };
  }

  private static StoreContender ofIndex(StoreKind kind, StoreServers servers, Settings settings)
      throws IOException {
    return ofChannel(kind, servers.index(settings.entries()), Side.ring, settings);
  }

  private static StoreContender ofChannel(
      StoreKind kind, ChildProcess server, Side side, Settings settings) throws IOException {
    final String target = StoreServers.target(server);
    return new StoreContender(
        kind,
        server.pid(),
        StoreKind.stub,
        started ->
            StoreClient.start(
                started,
                settings.entries(),
                settings.seed(),
                target,
                side,
                settings.rings(),
                settings.flags()));
  }

  private static StoreContender ofFile(StoreKind kind, long server, Path file, Settings settings)
      throws IOException {
    return new StoreContender(
        kind,
        server,
        kind,
        started ->
            StoreClient.start(
                started, settings.entries(), settings.seed(), file, settings.flags()));
  }

  /** Why a side cannot take part on this machine, or an empty text. */
  static String obstacle(StoreSide side) {
    return switch (side) {
      case redis, redisSorted, memcached ->
          NativeServer.find(programName(side)).isEmpty()
              ? programName(side) + " is not installed"
              : "";
      case ringfetch, ordered, echo, direct, orderedDirect, grpc, chronicle, lmdb -> "";
    };
  }

  private static String programName(StoreSide side) {
    return side == StoreSide.memcached ? "memcached" : "redis-server";
  }

  private static Path program(StoreSide side) {
    return NativeServer.find(programName(side)).orElseThrow();
  }

  /** Makes the client run a command. */
  Answer ask(String command, Object... arguments) {
    return client.ask(command, arguments);
  }

  /** The client that writes while the other one reads. */
  ChildProcess writer() throws IOException {
    if (writer == null) {
      writer = starter.start(writerKind);
    }
    return writer;
  }

  /** Runs a round and measures what it costs. */
  Costed<Answer> measure(boolean besideWriter, Costed.Round<Answer, IOException> round)
      throws IOException {
    final List<Long> clients = new ArrayList<>(List.of(client.pid()));
    if (besideWriter) {
      clients.add(writer().pid());
    }
    return Costed.measureProcesses(clients, server, round);
  }

  @Override
  public void close() {
    if (writer != null) {
      writer.close();
    }
    client.close();
  }
}
