package dev.ringfetch.benchmarks;

import dev.ringfetch.benchmarks.adaptive.AdaptiveClient;
import dev.ringfetch.benchmarks.adaptive.ReadRow;
import dev.ringfetch.benchmarks.stores.IndexProcess;
import dev.ringfetch.examples.load.Machine;
import dev.ringfetch.examples.load.Spread;
import dev.ringfetch.examples.load.Turns;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.ChildProcess;
import dev.ringfetch.examples.process.Rings;
import dev.ringfetch.index.client.Access;
import java.io.IOException;
import java.io.PrintStream;
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
 * A benchmark of adaptive access: the reads of a view that chooses their routes beside those of
 * views with fixed ones, each in a process of its own, beside a process that writes.
 */
@Command(
    name = "adaptive",
    modelTransformer = RunOptions.Adding.class,
    mixinStandardHelpOptions = true,
    description = {
      "Measures reads by calls, directly, and by whichever has been faster lately:",
      "Get, scans of 10, 100 and 1,000 entries, and searches of 100 boxes, by the",
      "client library, while another process writes the same index as fast as it can;",
      "and the part of the reads that went directly. The three take turns. 2 minutes."
    },
    footer = "The last lines are for scripts.")
final class AdaptiveBench implements Callable<Integer> {
  private static final List<String> FLAGS = List.of("-XX:+UseSerialGC", "-Xms512m", "-Xmx512m");
  private static final long BYTES_PER_ENTRY = 1_000; // of three indexes, twice what is expected
  private static final long MIN_BYTES = 256L << 20;

  private final PrintStream out = System.out;
  private final List<String> results = new ArrayList<>();

  @Mixin
  private final RunOptions options =
      new RunOptions()
          .withQuick("Half a minute: fewer and shorter rounds.")
          .withRounds(5, 3)
          .withMillis(1000, 200)
          .withWarmUp(
              "Milliseconds before the first round of each row and view. Default: %s.", 2000, 500);

  @Option(names = "--entries", description = "Of each index. Default: ${DEFAULT-VALUE}.")
  private int entries = 100_000;

  @Option(names = "--rows", split = ",", description = "Of ${COMPLETION-CANDIDATES}. Default: all.")
  private List<ReadRow> rows = List.of(ReadRow.values());

  @Mixin private Rings rings;

  @Override
  public Integer call() throws IOException {
    Machine.print(out);
    out.printf(
        "%,d entries; %d rounds of %d ms by turns, median [least .. most] of them%n%n",
        entries, options.rounds(), options.millis());
    final List<String> arguments = new ArrayList<>(rings.serverArguments());
    arguments.addAll(List.of("--memory", Long.toString(MIN_BYTES + entries * BYTES_PER_ENTRY)));
    final Map<Access, ChildProcess> clients = new EnumMap<>(Access.class);
    long wrong = 0;
    try (ChildProcess server = ChildProcess.start(FLAGS, IndexProcess.class, arguments);
        ChildProcess writer = client(Access.RPC, server)) {
      try {
        final Answer unused = writer.ask("load");
        for (final Access access : Access.values()) {
          clients.put(access, client(access, server));
        }
        for (final ReadRow row : rows) {
          wrong += measure(row, clients, writer);
        }
      } finally {
        clients.values().forEach(ChildProcess::close);
      }
    }
    out.println();
    results.forEach(out::println);
    out.println("wrong answers: " + wrong);
    return wrong == 0 ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
  }

  private ChildProcess client(Access access, ChildProcess server) throws IOException {
    return AdaptiveClient.start(access, entries, StoreServers.target(server), rings, FLAGS);
  }

  /** Measures a row; returns the number of wrong answers. */
  private long measure(ReadRow row, Map<Access, ChildProcess> clients, ChildProcess writer) {
    final Answer unused = writer.ask("begin-writes", row);
    clients.values().forEach(client -> client.ask("run", row, options.warmUp()));
    final Map<Access, List<Answer>> taken =
        Turns.take(
            clients.keySet(),
            options.rounds(),
            (access, round) -> clients.get(access).ask("run", row, options.millis()));
    final double writes = writer.ask("end-writes").figure("perSecond");
    out.printf("%-11s writes/s %,.0f%n", row.text(), writes);
    taken.forEach(
        (access, rounds) -> {
          final Spread rate = spread(rounds, "perSecond");
          final double p50 = spread(rounds, "p50").median();
          final double direct = spread(rounds, "direct").median();
          out.printf(
              "  %-9s reads/s %-32s p50 us %8.1f  directly %5.1f %%%n",
              access, rate.text(0), p50, 100 * direct);
          result(
              "row=%s access=%s per_s=%.0f p50_us=%.2f direct=%.4f writes_s=%.0f",
              row.text(), access, rate.median(), p50, direct, writes);
        });
    for (final Access fixed : List.of(Access.DIRECT, Access.RPC)) {
      final Spread ratio =
          Spread.ofRatios(
              taken.get(Access.ADAPTIVE), taken.get(fixed), round -> round.figure("perSecond"));
      out.printf("  rate of ADAPTIVE by %s: %s%n", fixed, ratio.text(2));
      result(
          "row=%s ratio=rate access=ADAPTIVE by=%s median=%.2f", row.text(), fixed, ratio.median());
    }
    return taken.values().stream()
        .flatMap(List::stream)
        .mapToLong(round -> round.count("wrong"))
        .sum();
  }

  private static Spread spread(List<Answer> rounds, String figure) {
    return Spread.of(rounds, round -> round.figure(figure));
  }

  private void result(String format, Object... arguments) {
    results.add("RESULT " + String.format(Locale.ROOT, format, arguments));
  }
}
