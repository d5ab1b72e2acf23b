package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.load.Machine;
import dev.ringfetch.examples.load.Spread;
import dev.ringfetch.examples.load.Turns;
import java.io.IOException;
import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A benchmark of Index.Get by blocking stub, by size of the value and by executors. */
@Command(
    name = "unary",
    modelTransformer = RunOptions.Adding.class,
    mixinStandardHelpOptions = true,
    description = "Times Index.Get by blocking stub, by size of the value and by executors.")
final class UnaryBench implements Callable<Integer> {
  private final PrintStream out = System.out;
  private final Marks marks = new Marks();

  @Mixin
  private final RunOptions options =
      new RunOptions()
          .withRounds(5)
          .withMillis(1000)
          .withWarmUp("Milliseconds before the first round of a size. Default: %s.", 3000);

  @Option(
      names = "--sizes",
      split = ",",
      defaultValue = "32,1024,65536",
      description = "Of the value, in bytes. Default: ${DEFAULT-VALUE}.")
  private List<Integer> sizes;

  @Override
  public Integer call() throws IOException {
    Machine.print(out);
    out.printf(
        "%d rounds of %d ms, by turns; median [least .. most] of them%n%n",
        options.rounds(), options.millis());
    out.printf(
        "%-9s %7s %-9s %-34s %-34s %11s %7s%n",
        "executors", "bytes", "transport", "p50 us", "p99 us", "calls/s", "ratio");
    for (final boolean direct : new boolean[] {true, false}) {
      try (Pair pair = Pair.start(direct, List.of(Contender.values()), List.of())) {
        for (final int size : sizes) {
          print(direct ? "direct" : "default", size, measure(pair, size));
        }
      }
    }
    out.println();
    out.println(marks.line());
    return CommandLine.ExitCode.OK;
  }

  private Map<Contender, List<Figures>> measure(Pair pair, int size) {
    for (final Contender contender : pair.contenders()) {
      pair.ask(contender, "round", size, options.warmUp());
    }
    return Turns.take(
        pair.contenders(),
        options.rounds(),
        (contender, round) ->
            Figures.parse(marks.counted(pair.measure(contender, "round", size, options.millis()))));
  }

  private void print(String executors, int size, Map<Contender, List<Figures>> measured) {
    final double grpc = Spread.of(measured.get(Contender.grpc), Figures::p50Us).median();
    measured.forEach(
        (contender, figures) -> {
          final Spread p50 = Spread.of(figures, Figures::p50Us);
          out.printf(
              Locale.ROOT,
              "%-9s %7d %-9s %-34s %-34s %,11.0f %7.1f%n",
              executors,
              size,
              contender,
              p50.text(2),
              Spread.of(figures, Figures::p99Us).text(2),
              Spread.of(figures, Figures::perSecond).median(),
              grpc / p50.median());
        });
  }
}
