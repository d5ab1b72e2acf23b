package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.Machine;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
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

/** A benchmark of calls between two processes of one host, over all transports side by side. */
@Command(
    name = "peers",
    modelTransformer = RunOptions.Adding.class,
    mixinStandardHelpOptions = true,
    description =
        "Measures calls between two processes of one host, all peers by turns: memory "
            + "alone, Agrona's rings, Aeron IPC, gRPC over TCP, over a Unix socket and in one "
            + "process, and the ring. Modes with stubs have direct executors on both sides, "
            + "mode default has default ones. Mode lean is the same service called without a stub, "
            + "mode ring a session of the ring without stub and call layer, mode direct memory "
            + "without even that. This is what bench does without a name.")
final class PeersBench implements Callable<Integer> {
  /** Equal for all, as there are many of them at once. */
  private static final List<String> FLAGS = List.of("-XX:+UseSerialGC", "-Xms256m", "-Xmx256m");

  private final PrintStream out = System.out;

  @Mixin
  private final RunOptions options =
      new RunOptions()
          .withQuick("Less than two minutes: 32 bytes alone, shorter rounds, less warm-up.")
          .withRounds(5)
          .withMillis(2000, 1200)
          .withWarmUp(
              "Milliseconds before the first round of each peer in each mode, and a quarter of "
                  + "that for each further length or depth. Default: %s; never more "
                  + "than 1500 in mode direct.",
              20_000, 6_500)
          .withPinning(
              "Leave it to the system on which cores threads run. Otherwise clients get one "
                  + "half of the cores and servers the other once they are warm, where there is "
                  + "taskset.");

  @Option(
      names = "--full",
      description =
          "Each mode with each length and each number of calls in flight, 64 KiB and more "
              + "with 1 and 16 at once: an hour. Otherwise lengths are measured one call at a "
              + "time, and depths with 32 bytes.")
  private boolean full;

  @Option(
      names = "--peers",
      split = ",",
      description =
          "Of ${COMPLETION-CANDIDATES}. Default: all; without agrona, grpc-inprocess and "
              + "grpc-netty-uds if quick.")
  private List<Peer> peers;

  @Option(
      names = "--modes",
      split = ",",
      description =
          "Of ${COMPLETION-CANDIDATES}. Default: all; blocking,async,direct if quick. "
              + "default is a blocking stub one call at a time and an async stub beyond.")
  private List<Mode> modes;

  @Option(
      names = "--payloads",
      split = ",",
      description = "Of answers, in bytes. Default: 32,1024,65536,1048576; 32 if quick.")
  private List<Integer> payloads;

  @Option(
      names = "--in-flight",
      split = ",",
      description = "Calls at once, beside one. Default: 16,64,256; 64 if quick.")
  private List<Integer> depths;

  @Option(
      names = "--rates",
      split = ",",
      description =
          "Calls of 32 bytes in a second, by a thread that makes each when it is due and "
              + "blocks in it: latencies are from then on. 0: none. Default: 1000,10000; 0 if "
              + "quick.")
  private List<Integer> rates;

  @Option(
      names = "--logs",
      paramLabel = "DIR",
      description =
          "Folder for the latencies of each round as logs of HdrHistogram, a file for each "
              + "row; for the table, and for a plot of it (bench.svg). Default: a new one where "
              + "temporary files are.")
  private Path folder;

  @Option(
      names = "--resume",
      description =
          "Go on with a run that was interrupted: rounds that the folder of --logs has are "
              + "not measured again. The other options are to be the same.")
  private boolean resume;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws IOException {
    check(!full || !options.quick(), "--full takes longer than --quick may");
    check(
        payloads().stream().allMatch(Load::isPayload),
        "payloads have from " + Load.MIN_PAYLOAD + " to " + Load.MAX_PAYLOAD + " bytes");
    final Timing timing = new Timing(options.rounds(), options.millis(), options.warmUp());
    final Pinning pinning = options.pinning();
    final List<Entry> entries = entries();
    check(
        !entries.isEmpty(), "nothing to measure: no peer of " + peers + " has a mode of " + modes);
    final String settings =
        String.join(" ", timing.settings(), pinning.settings(), String.join(" ", FLAGS), ownFlags())
            .strip();
    try (RoundLogs logs = logs(entries, settings);
        PeerRun run = new PeerRun(entries, timing, FLAGS, pinning, logs)) {
      out.println(run.describe());
      Machine.print(out);
      out.println("logs     " + folder.toAbsolutePath());
      out.println("pinning  " + pinning.describe());
      out.printf(
          "rounds by turns; median [least .. most] of them; stubs: Index.Get; JVMs: %s%n",
          String.join(" ", FLAGS));
      final boolean complete = run.measure();
      final List<PeerRow> rows = run.rows();
      final String table = PeerTable.of(rows);
      out.print(table);
      if (!rows.isEmpty()) {
        logs.write("table.txt", table);
        logs.write("bench.svg", PeerPlot.of(rows));
        out.printf("%nlogs, table and plot: %s%n", folder.toAbsolutePath());
      }
      return complete ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    }
  }

  /** Which the peers' JVMs have, too. */
  private static String ownFlags() {
    return String.join(" ", ManagementFactory.getRuntimeMXBean().getInputArguments());
  }

  private void check(boolean right, String otherwise) {
    if (!right) {
      throw new ParameterException(spec.commandLine(), otherwise);
    }
  }

  private List<Integer> payloads() {
    return options.or(payloads, List.of(32, 1024, 65536, 1048576), List.of(32));
  }

  private RoundLogs logs(List<Entry> entries, String settings) throws IOException {
    check(folder != null || !resume, "--resume goes on with the folder of --logs");
    if (folder == null) {
      folder = Files.createTempDirectory("ringfetch-bench-");
    }
    try {
      return RoundLogs.open(folder, resume, settings, entries, out::println);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
  }

  /** The requested rows. */
  private List<Entry> entries() {
    final List<Entry> entries = new ArrayList<>();
    for (final Peer peer :
        options.or(
            peers,
            List.of(Peer.values()),
            List.of(Peer.raw, Peer.aeron, Peer.grpc, Peer.ringfetch))) {
      for (final Mode mode :
          options.or(
              modes, List.of(Mode.values()), List.of(Mode.direct, Mode.blocking, Mode.async))) {
        if (peer.takes(mode)) {
          Load.of(mode, payloads(), options.or(depths, List.of(16, 64, 256), List.of(64)), full)
              .stream()
              .filter(load -> peer.takes(load) && !(isBriefly(mode) && load.inFlight() > 1))
              .forEach(load -> entries.add(new Entry(peer, load)));
        }
        if (mode == Mode.blocking && peer.takes(mode)) {
          options.or(rates, List.of(1_000, 10_000), List.of(0)).stream()
              .filter(rate -> rate > 0)
              .forEach(rate -> entries.add(new Entry(peer, Load.atRate(rate))));
        }
      }
    }
    return entries;
  }

  /** A quick run measures modes without a stub with one call at a time only. */
  private boolean isBriefly(Mode mode) {
    return options.quick() && mode == Mode.direct && depths == null;
  }
}
