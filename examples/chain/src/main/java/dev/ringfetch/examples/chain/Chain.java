package dev.ringfetch.examples.chain;

import com.google.errorprone.annotations.FormatMethod;
import dev.ringfetch.examples.chain.Processes.Round;
import dev.ringfetch.examples.load.Machine;
import dev.ringfetch.examples.load.Side;
import dev.ringfetch.examples.load.Spread;
import dev.ringfetch.examples.load.Turns;
import dev.ringfetch.examples.process.ChildFailure;
import dev.ringfetch.examples.process.Rings;
import dev.ringfetch.index.AtLeast;
import dev.ringfetch.index.OptionErrors;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The demo of a chain of services: a shopper calls the gateway, which calls pricing, which calls
 * inventory, which reads the index. The same services run twice, over rings and over gRPC, and are
 * checked and measured by turns. Exit code 0 only if every answer was right.
 */
@Command(
    name = "chain",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Runs a chain of services over rings and over gRPC; checks and measures both.",
    footer = {
      "",
      "The exit code is 0 only if every answer was right, deadline, cancellation and",
      "trace reached all services, and each chain used its transport alone."
    })
public final class Chain implements Callable<Integer> {
  private static final double PERCENT = 100;

  private final PrintStream out = System.out;
  private final Map<Side, Processes> chains = new EnumMap<>(Side.class);

  @Option(
      names = "--rounds",
      converter = AtLeast.One.class,
      defaultValue = "5",
      description = "Rounds of measuring. Default: ${DEFAULT-VALUE}.")
  private int rounds;

  @Option(
      names = "--millis",
      converter = AtLeast.One.class,
      defaultValue = "2000",
      description =
          "Length of a round; twice that where calls are late. Default: ${DEFAULT-VALUE}.")
  private int millis;

  @Option(
      names = "--warm-up",
      converter = AtLeast.One.class,
      defaultValue = "15000",
      description = "Milliseconds before the first round. Default: ${DEFAULT-VALUE}.")
  private int warmUp;

  @Option(
      names = "--percent",
      split = ",",
      converter = AtLeast.Zero.class,
      defaultValue = "0,10,50,100",
      description =
          "Loads, in percent of the most calls of the chain over gRPC. Default: ${DEFAULT-VALUE}.")
  private List<Integer> percents;

  @Option(
      names = "--no-telemetry",
      description = "Do not trace: no OpenTelemetry in the processes.")
  private boolean untraced;

  @Option(
      names = "--containers",
      description =
          "Run each process as a container of a pod, in namespaces of its own, with a common"
              + " /dev/shm. Needs unshare and the right to mount.")
  private boolean contained;

  @Option(
      names = "--plot",
      paramLabel = "FILE",
      description = "The picture, in SVG. Default: a new file where temporary files are.")
  private Path plot;

  @Mixin private Rings rings;

  @Spec private CommandSpec spec;

  /** Runs it; ends the JVM. */
  public static void main(String[] args) {
    System.exit(OptionErrors.printedFor(new CommandLine(new Chain())).execute(args));
  }

  @Override
  public Integer call() throws IOException {
    if (percents.stream().allMatch(percent -> percent == 0)) {
      throw new ParameterException(spec.commandLine(), "--percent has no load above 0");
    }
    Machine.print(out);
    try (Pod pod = contained ? new Pod() : null) {
      return run(pod);
    } catch (ChildFailure e) {
      System.err.println("chain: " + e.getMessage());
      return CommandLine.ExitCode.SOFTWARE;
    }
  }

  private int run(Pod pod) throws IOException {
    try {
      for (final Side side : Side.values()) {
        chains.put(side, Processes.start(side, !untraced, rings, pod));
      }
      final boolean passed = check();
      final List<Row> rows = measure();
      final long wrong =
          rows.stream()
              .flatMap(row -> row.rounds().stream())
              .mapToLong(Round::wrong)
              .max()
              .orElse(0);
      final boolean ofOneTransport = chains.values().stream().allMatch(Processes::isOfOneTransport);
      if (pod != null) {
        say("files in the containers' volume: %,d bytes", pod.bytes());
      }
      say("wrong answers: %d; each chain on its transport alone: %s", wrong, ofOneTransport);
      return passed && wrong == 0 && ofOneTransport
          ? CommandLine.ExitCode.OK
          : CommandLine.ExitCode.SOFTWARE;
    } finally {
      chains.values().forEach(Processes::close);
    }
  }

  private boolean check() {
    boolean passed = true;
    for (final Map.Entry<Side, Processes> chain : chains.entrySet()) {
      final List<String> faults = new Checks(chain.getValue(), !untraced).run();
      say(
          "%s: %s",
          chain.getKey(),
          faults.isEmpty()
              ? "each article, a missing one, deadline, cancellation%s: as they should be"
                  .formatted(untraced ? "" : " and trace")
              : String.join("; ", faults));
      passed &= faults.isEmpty();
    }
    if (passed && !untraced) {
      say("%none trace, over rings:%n%s", new Checks(chains.get(Side.ring), true).trace());
    }
    return passed;
  }

  private List<Row> measure() throws IOException {
    chains.values().forEach(chain -> chain.ask(Part.shopper, "round", warmUp));
    final Map<Side, Spread> peaks = new EnumMap<>(Side.class);
    Turns.take(
            chains.keySet(),
            rounds,
            (side, round) -> chains.get(side).ask(Part.shopper, "round", millis))
        .forEach(
            (side, answers) ->
                peaks.put(side, Spread.of(answers, answer -> answer.figure("perSecond"))));
    peaks.forEach(
        (side, peak) -> say("%-5s %s calls/s, each as the one before ends", side, peak.text(0)));
    final List<Row> rows = new ArrayList<>();
    for (final int percent : percents) {
      final int rate = (int) Math.ceil(peaks.get(Side.grpc).median() * percent / PERCENT);
      Turns.take(
              chains.keySet(),
              rounds,
              (side, round) -> chains.get(side).measure("due", rate, millis))
          .forEach((side, taken) -> rows.add(new Row(side, percent, rate, taken)));
    }
    say(
        "%n%d rounds of %d ms by turns, medians; load: of the most calls over gRPC, for both chains;"
            + "%non the right: processor time in ms a second; other processes had %.0f %% of the"
            + " machine%n%n%s",
        rounds,
        millis,
        PERCENT
            * Spread.of(
                    rows.stream().flatMap(row -> row.rounds().stream()).toList(), Round::foreign)
                .median(),
        Row.head());
    rows.forEach(row -> say("%s", row.line()));
    if (plot == null) {
      plot = Files.createTempFile("chain-", ".svg");
    }
    Files.writeString(plot, Plot.of(rows));
    say("%npicture: %s%n", plot.toAbsolutePath());
    rows.forEach(row -> say("%s", row.result()));
    return rows;
  }

  @FormatMethod
  private void say(String format, Object... arguments) {
    out.printf(Locale.ROOT, format + "%n", arguments);
    out.flush();
  }
}
