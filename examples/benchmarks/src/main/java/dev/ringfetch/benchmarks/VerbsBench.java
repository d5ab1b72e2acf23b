package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.Machine;
import dev.ringfetch.examples.load.Turns;
import dev.ringfetch.examples.process.ChildFailure;
import dev.ringfetch.examples.process.HostAddress;
import dev.ringfetch.examples.verbs.VerbsContender;
import dev.ringfetch.examples.verbs.VerbsRound;
import dev.ringfetch.rdma.natives.NativeLibrary;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * A benchmark of small calls over RDMA, and of the peers to compare with, on one host with a
 * device.
 */
@Command(
    name = "verbs",
    modelTransformer = RunOptions.Adding.class,
    mixinStandardHelpOptions = true,
    description = {
      "Measures calls of 32 bytes, one at a time, on one host with an RDMA device.",
      "Of memory alone, the ring in shared memory, verbs alone and the ring over verbs by way of",
      "the answer, each by stub and (bytes...) by itself, DaRPC, and gRPC over TCP.",
      "rpc-rdma/soft-roce/run gives any host such a device."
    })
final class VerbsBench implements Callable<Integer> {
  /** Small and equal for all, as there are many of them at once. */
  static final List<String> FLAGS = List.of("-XX:+UseSerialGC", "-Xms128m", "-Xmx256m");

  private final PrintStream out = System.out;
  private final Marks marks = new Marks();

  @Mixin
  private final RunOptions options =
      new RunOptions()
          .withQuick("Shorter rounds, the first compiler alone; figures are worse and vary more.")
          .withRounds(5)
          .withMillis(2000, 400)
          .withWarmUp(
              "Milliseconds before the first round of each, and up to four times as many%nuntil"
                  + " compilers rest. Default: %s.",
              45_000, 8_000);

  @Option(
      names = "--peers",
      split = ",",
      description = "Of ${COMPLETION-CANDIDATES}. Default: all.")
  private List<VerbsPeer> peers = List.of(VerbsPeer.values());

  @Option(
      names = "--spin-time",
      paramLabel = "MICROS",
      defaultValue = "20000",
      description = {
        "How long both sides of a ring poll before they sleep: longer than a call takes,",
        "as the others poll for ever. Default: ${DEFAULT-VALUE}."
      })
  private int spinMicros;

  @Option(
      names = "--address",
      description = "Of the device. Default: the first of an interface that is not the loopback.")
  private InetAddress address;

  @Spec private CommandSpec spec;

  private final Lineup<VerbsPeer, VerbsContender> lineup =
      new Lineup<>(this::tell, VerbsContender::close);

  private Progress progress; // null until the number of rounds is known

  @Override
  public Integer call() throws IOException {
    check(
        address == null || NetworkInterface.getByInetAddress(address) != null,
        "--address: no interface of this host has " + address);
    final String missing = NativeLibrary.unavailableBecause();
    if (!missing.isEmpty()) {
      System.err.println("bench verbs: RDMA is not available: " + missing);
      return CommandLine.ExitCode.SOFTWARE;
    }
    final InetAddress host = address == null ? HostAddress.ofInterface() : address;
    final int roundMillis = options.millis();
    final int warmUpMillis = options.warmUp();
    Machine.print(out);
    progress =
        Progress.ofProcess(
            "bench verbs", (double) peers.size() * (warmUpMillis + options.rounds() * roundMillis));
    out.printf(
        "device address %s; %d rounds of %d ms, by turns; median [least .. most] of them;"
            + " rings poll for %d us; JVMs: %s%n",
        host.getHostAddress(),
        options.rounds(),
        roundMillis,
        spinMicros,
        String.join(" ", flags()));
    try {
      final boolean complete = prepare(new VerbsPeer.Run(host, spinMicros, flags()), warmUpMillis);
      measure(roundMillis);
      return complete ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    } catch (ChildFailure e) {
      lineup.tell(e.getMessage());
      return CommandLine.ExitCode.SOFTWARE;
    } finally {
      progress.clear();
      lineup.close();
    }
  }

  private void tell(String what) {
    progress.tell(what);
  }

  private void check(boolean right, String otherwise) {
    if (!right) {
      throw new ParameterException(spec.commandLine(), otherwise);
    }
  }

  /** Starts all and warms them up; says whether all can take part. */
  private boolean prepare(VerbsPeer.Run run, int warmUpMillis) throws IOException {
    boolean complete = true;
    for (final VerbsPeer peer : peers) {
      progress.begin("warming up " + peer);
      complete &=
          lineup.add(
              peer,
              peer.toString(),
              () -> peer.start(run),
              contender -> warmUp(peer, contender, warmUpMillis));
      progress.done(warmUpMillis);
    }
    return complete;
  }

  private void warmUp(VerbsPeer peer, VerbsContender contender, int warmUpMillis)
      throws IOException {
    final double compiling =
        WarmUp.run(
            warmUpMillis,
            roundMillis -> {
              final var unused = contender.round(roundMillis);
            },
            new Compilers()::share);
    if (compiling >= WarmUp.RESTING) {
      lineup.tell(
          String.format("beside %s: compilers are not done, and have %.2f cores", peer, compiling));
    }
  }

  private void measure(int roundMillis) {
    final List<VerbsRow> rows = new ArrayList<>();
    Turns.take(
            lineup.peers(),
            options.rounds(),
            (peer, round) -> {
              progress.begin("round " + (round + 1) + " of " + peer);
              final VerbsContender contender = lineup.get(peer);
              final Costed<VerbsRound> costed =
                  Costed.measure(
                      contender.client(), contender.server(), () -> contender.round(roundMillis));
              progress.done(roundMillis);
              return marks.count(costed);
            })
        .forEach((peer, measured) -> rows.add(VerbsRow.of(peer, measured)));
    progress.clear();
    print(rows);
  }

  private void print(List<VerbsRow> rows) {
    out.printf(
        "%nW/R/S: WRITEs, READs and SENDs that a side posted per call; receives are not counted%n"
            + "+: what the transport posts by itself; !: completions asked for, but for READs%n"
            + "ringfetch and grpc: Index.Get by blocking stub, direct executors;"
            + " ringfetch, mode ring...: bytes, by a session%n%n%s%n",
        VerbsRow.head());
    rows.forEach(row -> out.println(row.line()));
    out.printf("%n%s%n%n", marks.line());
    final AddedTime added = new AddedTime(rows);
    added.lines().forEach(out::println);
    if (rows.stream().anyMatch(VerbsRow::alternates)) {
      out.println(
          "two processors were not to be had at once: latencies of this run are the scheduler's");
    }
    out.println();
    rows.forEach(row -> out.println(row.result() + added.fields(row)));
  }

  /**
   * Flags of all JVMs, independent of those of this one. In rounds that are short compared with the
   * time of the second compiler, it is no help.
   */
  private List<String> flags() {
    final List<String> flags = new ArrayList<>(FLAGS);
    flags.add("-XX:TieredStopAtLevel=" + (options.quick() ? 1 : 4));
    return flags;
  }
}
