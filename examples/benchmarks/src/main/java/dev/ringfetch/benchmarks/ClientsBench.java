package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.load.Machine;
import dev.ringfetch.examples.load.Side;
import dev.ringfetch.examples.load.Spread;
import dev.ringfetch.examples.load.Turns;
import dev.ringfetch.examples.process.ChildProcess;
import dev.ringfetch.examples.process.Rings;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A benchmark of several client processes at once, more than the machine has processors. */
@Command(
    name = "clients",
    modelTransformer = RunOptions.Adding.class,
    mixinStandardHelpOptions = true,
    description =
        "Measures one client process and several at once, of one server process, by asynchronous"
            + " stub with direct executors: over rings and over gRPC.")
final class ClientsBench implements Callable<Integer> {
  private static final double LEAST_OF_ONE = 0.7;
  private static final double LEAST_OF_MEAN = 0.5;
  private static final int PAYLOAD = StubCalls.SMALL;

  private final PrintStream out = System.out;
  private final Marks marks = new Marks();

  @Mixin
  private final RunOptions options =
      new RunOptions()
          .withRounds(5)
          .withMillis(2000)
          .withWarmUp(
              "Milliseconds before the first round, of each client by itself and of all. Default:"
                  + " %s.",
              6000)
          .withPinning(
              "Leave it to the system on which cores threads run. Otherwise clients get one half of"
                  + " the cores and the server the other once they are warm, where there is"
                  + " taskset.");

  @Option(names = "--clients", defaultValue = "8", description = "Default: ${DEFAULT-VALUE}.")
  private int clients;

  @Option(
      names = "--in-flight",
      defaultValue = "16",
      description = "Calls that each has on its way. Default: ${DEFAULT-VALUE}.")
  private int inFlight;

  @Mixin private Rings rings;

  /** The clients that call at the same time. */
  private record Turn(Side side, int active) {}

  @Override
  public Integer call() throws IOException {
    Machine.print(out);
    final ChildProcess server = ChildProcess.start(List.of(), BenchServer.class, serverArguments());
    try {
      final long port = server.ask("port").count("port");
      try (Crowd ring = Crowd.start(port, Side.ring, clients, rings);
          Crowd grpc = Crowd.start(port, Side.grpc, clients, rings)) {
        final Map<Side, Crowd> crowds = Map.of(Side.ring, ring, Side.grpc, grpc);
        final List<Turn> turns =
            List.of(
                new Turn(Side.ring, 1),
                new Turn(Side.ring, clients),
                new Turn(Side.grpc, 1),
                new Turn(Side.grpc, clients));
        for (final Crowd crowd : List.of(ring, grpc)) {
          crowd.warmUp(PAYLOAD, inFlight, options.warmUp());
          final List<Figures> unused = crowd.run(clients, PAYLOAD, inFlight, options.warmUp());
        }
        final Pinning pinning = options.pinning();
        out.println("pinning  " + pinning.describe());
        ring.pin(pinning);
        grpc.pin(pinning);
        pinning.pinServer(server);
        return print(
                turns,
                Turns.take(turns, options.rounds(), (turn, round) -> measure(crowds, server, turn)))
            ? CommandLine.ExitCode.OK
            : CommandLine.ExitCode.SOFTWARE;
      }
    } finally {
      server.close();
    }
  }

  private List<String> serverArguments() {
    final List<String> arguments = new ArrayList<>(rings.serverArguments());
    arguments.add("--direct");
    return arguments;
  }

  private CrowdRound run(Map<Side, Crowd> crowds, Turn turn, int length) {
    return CrowdRound.of(crowds.get(turn.side()).run(turn.active(), PAYLOAD, inFlight, length));
  }

  private CrowdRound measure(Map<Side, Crowd> crowds, ChildProcess server, Turn turn) {
    return marks.counted(
        Costed.measure(
            crowds.get(turn.side()).clients(turn.active()),
            server,
            () -> run(crowds, turn, options.millis())));
  }

  /** Returns whether the rings' clients share the processors fairly. */
  private boolean print(List<Turn> turns, Map<Turn, List<CrowdRound>> measured) {
    out.printf(
        "%d bytes, %d calls in flight each, asynchronous stub, direct executors; %d rounds of %d ms"
            + " by turns, median [least .. most]%n%n",
        PAYLOAD, inFlight, options.rounds(), options.millis());
    out.printf(
        "%-5s %7s  %-33s  %-8s  %-8s  %-28s  %s%n",
        "", "clients", "calls/s, all", "of one's", "slowest", "p50 us", "p99 us");
    boolean shared = true;
    for (final Turn turn : turns) {
      final boolean fair = print(turn, measured);
      shared &= fair || turn.side() == Side.grpc;
    }
    out.printf(
        Locale.ROOT,
        "%nof one's: median of the rounds, all calls by those of one client alone; slowest: of the"
            + " mean client; bars: %.1f and %.1f: %s%n%s%n",
        LEAST_OF_ONE,
        LEAST_OF_MEAN,
        shared ? "reached" : "NOT REACHED",
        marks.line());
    return shared;
  }

  private boolean print(Turn turn, Map<Turn, List<CrowdRound>> measured) {
    final List<CrowdRound> many = measured.get(turn);
    final List<CrowdRound> one = measured.get(new Turn(turn.side(), 1));
    final double ofOne = Spread.ofRatios(many, one, CrowdRound::perSecond).median();
    final double slowest = Spread.of(many, CrowdRound::slowest).median();
    out.printf(
        Locale.ROOT,
        "%-5s %7d  %-33s  %-8.2f  %-8.2f  %-28s  %s%n",
        turn.side(),
        turn.active(),
        Spread.of(many, CrowdRound::perSecond).text(0),
        ofOne,
        slowest,
        Spread.of(many, CrowdRound::p50Us).text(1),
        Spread.of(many, CrowdRound::p99Us).text(0));
    return ofOne >= LEAST_OF_ONE && slowest >= LEAST_OF_MEAN;
  }
}
