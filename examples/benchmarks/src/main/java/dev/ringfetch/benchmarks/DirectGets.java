package dev.ringfetch.benchmarks;

import dev.ringfetch.benchmarks.stores.IndexProcess;
import dev.ringfetch.benchmarks.stores.Mix;
import dev.ringfetch.benchmarks.stores.StoreClient;
import dev.ringfetch.benchmarks.stores.StoreKind;
import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.load.Turns;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.ChildProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Gets that clients make in memory: that of a single server, and that of a leader, with looks at
 * the gates of all members. Used by one thread.
 */
final class DirectGets implements AutoCloseable {
  /** Whose memory is read. */
  enum Of {
    /** A server that belongs to no cluster. */
    server,
    /** The leader of an index that three nodes have. */
    leader
  }

  private static final List<String> FLAGS = List.of("-Xmx512m");
  private static final long MEMORY = 256L << 20;

  private final int entries;
  private final long seed;
  private final Map<Of, ChildProcess> clients = new EnumMap<>(Of.class);
  private ChildProcess server;

  private DirectGets(int entries, long seed) {
    this.entries = entries;
    this.seed = seed;
  }

  /**
   * Starts a server and the clients.
   *
   * @param nodes addresses of nodes that have all entries, with commas between
   * @param fabric of the server, by its name; empty: the best
   */
  static DirectGets start(String nodes, int entries, long seed, String fabric) throws IOException {
    final DirectGets gets = new DirectGets(entries, seed);
    boolean started = false;
    try {
      gets.startServer(fabric);
      gets.clients.put(
          Of.leader, StoreClient.start(StoreKind.directNodes, entries, seed, nodes, FLAGS));
      started = true;
      return gets;
    } finally {
      if (!started) {
        gets.close();
      }
    }
  }

  private void startServer(String fabric) throws IOException {
    final List<String> arguments = new ArrayList<>(List.of("--memory", "" + MEMORY));
    if (!fabric.isEmpty()) {
      arguments.addAll(List.of("--memory-fabric", fabric));
    }
    server = ChildProcess.start(FLAGS, IndexProcess.class, arguments);
    final String target = StoreServers.target(server);
    try (ChildProcess writer = client(StoreKind.stub, target)) {
      final var unused = ReplicatedRun.checked(writer.ask("load", 0, entries));
    }
    clients.put(Of.server, client(StoreKind.direct, target));
  }

  private ChildProcess client(StoreKind kind, String target) throws IOException {
    return StoreClient.start(kind, entries, seed, target, FLAGS);
  }

  /** Measures both by turns, after a warm-up. */
  Map<Of, List<Figures>> measure(Timing timing, int threads) throws IOException {
    for (final ChildProcess client : clients.values()) {
      final var unused = run(client, threads, timing.warmUp());
    }
    try {
      return Turns.take(
          clients.keySet(),
          timing.rounds(),
          (of, round) -> {
            try {
              return Figures.parse(run(clients.get(of), threads, timing.millis()));
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          });
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private static Answer run(ChildProcess client, int threads, int millis) throws IOException {
    return ReplicatedRun.checked(client.ask("run", Mix.get, threads, true, millis));
  }

  @Override
  public void close() {
    clients.values().forEach(ChildProcess::close);
    if (server != null) {
      server.close();
    }
  }
}
