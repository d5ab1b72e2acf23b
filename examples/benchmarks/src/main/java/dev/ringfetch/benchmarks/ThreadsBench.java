package dev.ringfetch.benchmarks;

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

/** A benchmark of the calls in a second that several threads make over one channel. */
@Command(
    name = "threads",
    modelTransformer = RunOptions.Adding.class,
    mixinStandardHelpOptions = true,
    description = "Counts the calls of several threads by blocking stubs on one channel.")
final class ThreadsBench implements Callable<Integer> {
  private static final List<Contender> CONTENDERS = List.of(Contender.ring, Contender.grpc);

  private final PrintStream out = System.out;
  private final Marks marks = new Marks();

  @Mixin
  private final RunOptions options =
      new RunOptions()
          .withRounds(5)
          .withMillis(1000)
          .withWarmUp("Milliseconds before the first round. Default: %s.", 5000);

  @Option(
      names = "--threads",
      split = ",",
      defaultValue = "1,2,4,8",
      description = "Default: ${DEFAULT-VALUE}.")
  private List<Integer> threads;

  @Option(names = "--default-executors", description = "Not direct ones.")
  private boolean defaultExecutors;

  @Override
  public Integer call() throws IOException {
    Machine.print(out);
    out.printf(
        "calls/s, %s executors, 32 bytes; %d rounds of %d ms, by turns; median [least .. most]%n%n",
        defaultExecutors ? "default" : "direct", options.rounds(), options.millis());
    out.printf("%-8s %-38s %-38s %7s%n", "threads", "ring", "grpc", "ratio");
    try (Pair pair = Pair.start(!defaultExecutors, CONTENDERS, List.of())) {
      for (final Contender contender : CONTENDERS) {
        pair.ask(contender, "threads", 2, options.warmUp());
      }
      for (final int count : threads) {
        print(count, measure(pair, count));
      }
    }
    out.println();
    out.println(marks.line());
    return CommandLine.ExitCode.OK;
  }

  private Map<Contender, List<Double>> measure(Pair pair, int count) {
    return Turns.take(
        pair.contenders(),
        options.rounds(),
        (contender, round) ->
            marks
                .counted(pair.measure(contender, "threads", count, options.millis()))
                .figure("perSecond"));
  }

  private void print(int count, Map<Contender, List<Double>> rates) {
    final Spread ring = Spread.of(rates.get(Contender.ring), Double::doubleValue);
    final Spread grpc = Spread.of(rates.get(Contender.grpc), Double::doubleValue);
    out.printf(
        Locale.ROOT,
        "%-8d %-38s %-38s %7.1f%n",
        count,
        ring.text(0),
        grpc.text(0),
        ring.median() / grpc.median());
  }
}
