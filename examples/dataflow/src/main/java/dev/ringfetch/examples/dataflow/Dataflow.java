package dev.ringfetch.examples.dataflow;

import com.google.errorprone.annotations.FormatMethod;
import dev.ringfetch.examples.data.City;
import dev.ringfetch.examples.load.Machine;
import dev.ringfetch.examples.load.MachineUse;
import dev.ringfetch.examples.load.ProcessUse;
import dev.ringfetch.examples.load.Side;
import dev.ringfetch.examples.load.Spread;
import dev.ringfetch.examples.load.Turns;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.ChildFailure;
import dev.ringfetch.examples.process.ChildProcess;
import dev.ringfetch.examples.process.Rings;
import dev.ringfetch.examples.process.TemporaryDirectory;
import dev.ringfetch.index.AtLeast;
import dev.ringfetch.index.OptionErrors;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
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
import picocli.CommandLine.Option;

/**
 * The demo of a dataflow: a source's process streams tables in batches of columns to a sink's,
 * which computes totals of them; three ways by turns.
 */
@Command(
    name = "dataflow",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Streams columns from process to process: rings, and Arrow Flight over both.",
    footer = {
      "",
      "The exit code is 0 only if each way delivers, in every round, the rows, numbers",
      "and texts that a plain loop over the tables gives."
    })
public final class Dataflow implements Callable<Integer> {
  private static final double BYTES_PER_GB = 1e9;
  private static final double NS_PER_MS = 1e6;
  private static final double PERCENT = 100;

  /** The flags of a JVM in which Arrow has memory. */
  private static final List<String> ARROW_FLAGS =
      List.of(
          "--add-opens=java.base/java.nio=ALL-UNNAMED", "-Darrow.allocation.manager.type=Unsafe");

  private final PrintStream out = System.out;
  private final Map<Side, ChildProcess> sources = new EnumMap<>(Side.class);
  private final Map<Way, ChildProcess> sinks = new EnumMap<>(Way.class);

  @Option(
      names = "--batch",
      split = ",",
      paramLabel = "BYTES",
      converter = AtLeast.One.class,
      defaultValue = "65536,262144,1048576,4194304",
      description = "Lengths of batches. Default: ${DEFAULT-VALUE}.")
  private List<Integer> lengths;

  @Option(
      names = "--passes",
      converter = AtLeast.One.class,
      defaultValue = "10",
      description = "How often a call sends its table. Default: ${DEFAULT-VALUE}.")
  private int passes;

  @Option(
      names = "--rounds",
      converter = AtLeast.One.class,
      defaultValue = "5",
      description = "Rounds of measuring. Default: ${DEFAULT-VALUE}.")
  private int rounds;

  @Option(
      names = "--millis",
      converter = AtLeast.One.class,
      defaultValue = "1500",
      description = "Length of a round. Default: ${DEFAULT-VALUE}.")
  private int millis;

  @Option(
      names = "--warm-up",
      converter = AtLeast.One.class,
      defaultValue = "8000",
      description = "Milliseconds of each way before the first round. Default: ${DEFAULT-VALUE}.")
  private int warmUp;

  @Option(names = "--made-up", description = "Make cities up: no npm, no network.")
  private boolean madeUp;

  @Mixin private Rings rings;

  private Totals expected;
  private boolean right = true; // all that was delivered

  /** Runs it; ends the JVM. */
  public static void main(String[] args) {
    System.exit(OptionErrors.printedFor(new CommandLine(new Dataflow())).execute(args));
  }

  /** Figures of a round. */
  private record Round(double gigabytesPerSecond, double cpuMsPerGigabyte, double foreign) {}

  @Override
  public Integer call() throws IOException {
    Machine.print(out);
    try (TemporaryDirectory directory = new TemporaryDirectory("dataflow-")) {
      return run(cities(directory.path()));
    } catch (ChildFailure e) {
      System.err.println("dataflow: " + e.getMessage());
      return CommandLine.ExitCode.SOFTWARE;
    } finally {
      sinks.values().forEach(ChildProcess::close);
      sources.values().forEach(ChildProcess::close);
    }
  }

  private Path cities(Path directory) {
    if (!madeUp) {
      try {
        return City.load(directory);
      } catch (IOException e) {
        say("npm cannot supply the cities, so they are made up: %s", e.getMessage());
        return null;
      }
    }
    say("the cities are made up");
    return null;
  }

  private int run(Path cities) throws IOException {
    expected = new Totals(true);
    for (final Table table : SourceProcess.tables(cities).values()) {
      say("%s: %,d rows of %d columns", table.name(), table.rows(), table.columns().size());
      expected.add(table.totals());
    }
    start(cities);
    final List<String> results = new ArrayList<>();
    lengths.forEach(this::check);
    for (final Way way : Way.values()) {
      measure(way, lengths.get(lengths.size() - 1), warmUp);
    }
    say(
        "%n%d rounds of %d ms by turns, medians; GB: 1e9 bytes of values; processor time of source"
            + " and sink%n%n%-9s %-8s %-22s %14s %9s",
        rounds, millis, "batch", "way", "GB/s", "cpu ms a GB", "of netty");
    for (final int length : lengths) {
      final Map<Way, List<Round>> taken =
          Turns.take(List.of(Way.values()), rounds, (way, round) -> measure(way, length, millis));
      final double netty = Spread.of(taken.get(Way.netty), Round::gigabytesPerSecond).median();
      taken.forEach(
          (way, all) -> {
            final Spread rate = Spread.of(all, Round::gigabytesPerSecond);
            final double cpu = Spread.of(all, Round::cpuMsPerGigabyte).median();
            say(
                "%-9d %-8s %-22s %14.0f %9.2f",
                length, way, rate.text(2), cpu, rate.median() / netty);
            results.add(
                String.format(
                    Locale.ROOT,
                    "RESULT dataflow=%s batch=%d gb_s=%.3f best=%.3f cpu_ms_gb=%.0f ratio=%.2f"
                        + " foreign_percent=%.0f",
                    way,
                    length,
                    rate.median(),
                    rate.most(),
                    cpu,
                    rate.median() / netty,
                    PERCENT * Spread.of(all, Round::foreign).median()));
          });
    }
    say("");
    results.forEach(result -> say("%s", result));
    return right ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
  }

  private void start(Path cities) throws IOException {
    for (final Side side : Side.values()) {
      final List<String> arguments = new ArrayList<>(rings.serverArguments());
      arguments.addAll(List.of("--transport", side.name()));
      if (cities != null) {
        arguments.addAll(List.of("--cities", cities.toString()));
      }
      sources.put(side, ChildProcess.start(ARROW_FLAGS, SourceProcess.class, arguments));
    }
    final Map<Side, String> ports = new EnumMap<>(Side.class);
    sources.forEach((side, source) -> ports.put(side, source.readLine()));
    for (final Way way : Way.values()) {
      final List<String> arguments = new ArrayList<>(rings.arguments());
      arguments.addAll(
          List.of("--target", "localhost:" + ports.get(way.side), "--way", way.name()));
      sinks.put(way, ChildProcess.start(ARROW_FLAGS, SinkProcess.class, arguments));
    }
  }

  /** Compares every value that comes with those of the tables. */
  private void check(int length) {
    for (final Way way : Way.values()) {
      final Answer answer = sinks.get(way).ask("check", length);
      if (!expected.isIn(answer, 1)
          || Boolean.parseBoolean(answer.text("ring")) != (way.side == Side.ring)) {
        say("%s delivers something else with batches of %d bytes: %s", way, length, answer);
        right = false;
      }
    }
    if (right) {
      say("batches of %,d bytes: each way delivers what the tables have", length);
    }
  }

  private Round measure(Way way, int length, int time) {
    try {
      final MachineUse machine = MachineUse.now();
      final ProcessUse source = ProcessUse.of(sources.get(way.side).pid());
      final ProcessUse sink = ProcessUse.of(sinks.get(way).pid());
      final Answer answer = sinks.get(way).ask("run", length, passes, time);
      final double cpuNs =
          ProcessUse.of(sources.get(way.side).pid()).since(source).cpuNs()
              + ProcessUse.of(sinks.get(way).pid()).since(sink).cpuNs();
      if (!expected.isIn(answer, answer.count("passes"))) {
        say("%s has delivered something else with batches of %d bytes: %s", way, length, answer);
        right = false;
      }
      final double gigabytes = answer.count("bytes") / BYTES_PER_GB;
      return new Round(
          answer.count("bytes") / (double) answer.count("ns"),
          cpuNs / NS_PER_MS / gigabytes,
          MachineUse.now().since(machine).foreign(cpuNs));
    } catch (IOException e) { // the system does not report what processes use
      throw new UncheckedIOException(e);
    }
  }

  @FormatMethod
  private void say(String format, Object... arguments) {
    out.printf(Locale.ROOT, format + "%n", arguments);
    out.flush();
  }
}
