package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.Connection;
import dev.ringfetch.examples.load.Side;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.ChildProcess;
import dev.ringfetch.examples.process.Rings;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A server process, and a client process for each contender. */
final class Pair implements AutoCloseable {
  private final ChildProcess server;
  private final Map<Contender, ChildProcess> clients = new EnumMap<>(Contender.class);

  private Pair(ChildProcess server) {
    this.server = server;
  }

  /** Starts them and makes every client's first call, by the loopback interface. */
  static Pair start(boolean direct, List<Contender> contenders, List<String> flags)
      throws IOException {
    return start("localhost", direct, contenders, new Rings(), flags);
  }

  /** Starts them and makes every client's first call, to an address of this host. */
  static Pair start(
      String host, boolean direct, List<Contender> contenders, Rings rings, List<String> flags)
      throws IOException {
    final List<String> ofServer = new ArrayList<>(rings.serverArguments());
    if (direct) {
      ofServer.add("--direct");
    }
    final ChildProcess server = ChildProcess.start(flags, BenchServer.class, ofServer);
    final Pair pair = new Pair(server);
    try {
      final long port = server.ask("port").count("port");
      for (final Contender contender : contenders) {
        final ChildProcess client =
            ChildProcess.start(
                flags, BenchClient.class, arguments(host + ":" + port, contender, direct, rings));
        pair.clients.put(contender, client);
        client.ask("connect");
      }
      return pair;
    } catch (IOException | RuntimeException e) {
      pair.close();
      throw e;
    }
  }

  private static List<String> arguments(
      String target, Contender contender, boolean direct, Rings rings) {
    final Side side = contender == Contender.ring ? Side.ring : Side.grpc;
    final List<String> arguments =
        new ArrayList<>(Connection.arguments(target, side, direct, rings));
    if (contender == Contender.none) {
      arguments.add("--none");
    }
    return arguments;
  }

  Answer ask(Contender contender, String command, Object... arguments) {
    return clients.get(contender).ask(command, arguments);
  }

  /** Same as {@link #ask}, and measures the cost. */
  Costed<Answer> measure(Contender contender, String command, Object... arguments) {
    return Costed.measure(client(contender), server, () -> ask(contender, command, arguments));
  }

  Answer askServer(String command, Object... arguments) {
    return server.ask(command, arguments);
  }

  ChildProcess client(Contender contender) {
    return clients.get(contender);
  }

  ChildProcess server() {
    return server;
  }

  /** The contenders. */
  Set<Contender> contenders() {
    return clients.keySet();
  }

  @Override
  public void close() {
    try {
      clients.values().forEach(ChildProcess::close);
    } finally {
      server.close();
    }
  }
}
