package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.Connection;
import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.load.Machine;
import dev.ringfetch.examples.load.Side;
import dev.ringfetch.examples.load.Spread;
import dev.ringfetch.examples.load.Turns;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.ChildProcess;
import dev.ringfetch.examples.process.Rings;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A benchmark of calls on a machine whose processors other programs want, or that has few. */
@Command(
    name = "busy",
    modelTransformer = RunOptions.Adding.class,
    mixinStandardHelpOptions = true,
    description =
        "Measures a channel as it is built, with a ring and over gRPC by turns: beside busy"
            + " threads, with half a core, and on one processor.")
final class BusyBench implements Callable<Integer> {
  private static final int IN_FLIGHT = 64;
  private static final List<String> FLAGS = List.of("-XX:+UseSerialGC", "-Xms256m", "-Xmx256m");

  private final PrintStream out = System.out;

  @Mixin
  private final RunOptions options =
      new RunOptions()
          .withQuick("A minute: 32 bytes alone, two short rounds, little warm-up.")
          .withRounds(5, 2)
          .withMillis(1000, 300)
          .withWarmUp(
              "Milliseconds before the first round of each peer in each mode. Default: %s.",
              8_000, 1_500);

  @Option(
      names = "--places",
      split = ",",
      description = "Of ${COMPLETION-CANDIDATES}. Default: all.")
  private List<Place> places = List.of(Place.values());

  @Option(
      names = "--payloads",
      split = ",",
      description = "Of answers, in bytes. Default: 32,1024; 32 if quick.")
  private List<Integer> payloads;

  @Mixin private Rings rings;

  @Override
  public Integer call() throws IOException {
    Machine.print(out);
    out.printf(
        "default executors, one call at a time, or %d in flight by asynchronous stub; %d rounds of"
            + " %d ms by turns; figures: medians, ratios: medians of those of each round; others:"
            + " the part of the machine that other processes had, neighbours among them%n%n%s%n",
        IN_FLIGHT, options.rounds(), options.millis(), BusyCell.head());
    final List<BusyCell> cells = new ArrayList<>();
    try (ChildProcess neighbours = ChildProcess.start(FLAGS, BusyLoops.class, List.of())) {
      for (final Place.Limit limit : Place.Limit.values()) {
        final List<Place> within = limit.of(places);
        if (!within.isEmpty()) {
          measure(limit, within, neighbours, cells);
        }
      }
    }
    out.println();
    cells.forEach(cell -> out.println(cell.result()));
    final boolean reached = cells.stream().allMatch(BusyCell::isReached);
    out.printf("%n%s: %s%n", BusyCell.bars(), reached ? "reached" : "NOT REACHED");
    return CommandLine.ExitCode.OK;
  }

  private void measure(
      Place.Limit limit, List<Place> within, ChildProcess neighbours, List<BusyCell> cells)
      throws IOException {
    final Pinning core = Pinning.ofOneCore();
    if (limit == Place.Limit.processor && core.obstacle() != null) {
      out.println("processor: left out: " + core.obstacle());
      return;
    }
    final CpuQuota quota;
    try {
      quota = limit == Place.Limit.quota ? CpuQuota.create() : null;
    } catch (IOException e) {
      out.println("quota: left out, as the system permits no control group: " + e);
      return;
    }
    try (quota) {
      final Map<Side, PeerContender> peers = new LinkedHashMap<>();
      try {
        for (final Side side : Side.values()) {
          final PeerContender peer = start(side, limit);
          peers.put(side, peer);
          for (final Load load : loads()) {
            final Figures unused = peer.run(load, options.warmUp());
          }
          if (quota != null) {
            quota.confine(peer);
          } else if (limit == Place.Limit.processor) {
            core.pinClient(peer.client());
            core.pinServer(peer.server());
          }
        }
        for (final Place place : within) {
          neighbours.ask("loops", place.neighbours());
          for (final Load load : loads()) {
            final BusyCell cell = measure(place, load, peers);
            out.println(cell.line());
            cells.add(cell);
          }
          neighbours.ask("loops", 0);
        }
      } finally {
        peers.values().forEach(PeerContender::close);
      }
    }
  }

  private BusyCell measure(Place place, Load load, Map<Side, PeerContender> peers) {
    final Answer before = peers.get(Side.ring).client().ask("describe");
    final Map<Side, List<Costed<Figures>>> rounds =
        Turns.take(
            List.copyOf(peers.keySet()),
            options.rounds(),
            (side, round) -> {
              final PeerContender peer = peers.get(side);
              return Costed.measure(
                  peer.client(), peer.server(), () -> peer.run(load, options.millis()));
            });
    final Answer after = peers.get(Side.ring).client().ask("describe");
    final double onRings = after.count("ringCalls") - before.count("ringCalls");
    final double onGrpc = after.count("grpcCalls") - before.count("grpcCalls");
    return new BusyCell(
        place,
        load,
        rounds.get(Side.ring).stream().map(Costed::value).toList(),
        rounds.get(Side.grpc).stream().map(Costed::value).toList(),
        onRings / (onRings + onGrpc),
        Spread.of(rounds.get(Side.ring), Costed::foreign).median());
  }

  private List<Load> loads() {
    final List<Load> loads = new ArrayList<>();
    for (final int payload : options.or(payloads, List.of(32, 1024), List.of(32))) {
      loads.add(new Load(Mode.standard, payload, 1));
      loads.add(new Load(Mode.future, payload, 1));
      loads.add(new Load(Mode.standard, payload, IN_FLIGHT));
    }
    return loads;
  }

  /** Starts a server, and a client with a channel that may fall back. */
  private PeerContender start(Side side, Place.Limit limit) throws IOException {
    final List<String> flags = new ArrayList<>(FLAGS);
    flags.addAll(limit.flags());
    final ChildProcess server =
        ChildProcess.start(flags, BenchServer.class, rings.serverArguments());
    ChildProcess client = null;
    try {
      final List<String> arguments =
          new ArrayList<>(
              Connection.arguments(
                  "localhost:" + server.ask("port").count("port"), side, false, rings));
      arguments.add("--fallback");
      client = ChildProcess.start(flags, BenchClient.class, arguments);
      client.ask("connect");
      final ChildProcess started = client;
      return new StubPeer(
          client,
          server,
          () -> {
            started.close();
            server.close();
          });
    } catch (IOException | RuntimeException e) {
      if (client != null) {
        client.close();
      }
      server.close();
      throw e;
    }
  }
}
