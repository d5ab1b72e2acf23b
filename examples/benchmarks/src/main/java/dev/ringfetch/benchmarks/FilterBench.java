package dev.ringfetch.benchmarks;

import dev.ringfetch.benchmarks.near.NearRead;
import dev.ringfetch.examples.load.Machine;
import dev.ringfetch.examples.process.Rings;
import java.io.IOException;
import java.io.PrintStream;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A benchmark of a filter that accepts 1 %, beside scans of all entries. */
@Command(
    name = "filter",
    modelTransformer = RunOptions.Adding.class,
    mixinStandardHelpOptions = true,
    description = {
      "Measures a filter that accepts one entry of 100, of values of 64 bytes: by calls",
      "and in memory, beside scans of all entries of which the client keeps as many.",
      "The four take turns. Half a minute."
    },
    footer = "The last lines are for scripts.")
final class FilterBench implements Callable<Integer> {
  private final PrintStream out = System.out;

  @Mixin
  private final RunOptions options =
      new RunOptions()
          .withQuick("A quarter of it: fewer and shorter rounds.")
          .withRounds(7, 3)
          .withMillis(1000, 200)
          .withWarmUp("Milliseconds before the first round of each read. Default: %s.", 2000, 500);

  @Option(names = "--entries", description = "Of the index. Default: ${DEFAULT-VALUE}.")
  private int entries = 10_000;

  @Mixin private Rings rings;

  @Override
  public Integer call() throws IOException {
    Machine.print(out);
    try (NearRun run = new NearRun(entries, rings, options, out)) {
      run.measure("filter-1-of-100", NearRead.FILTER, 0);
      return run.report() == 0 ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    }
  }
}
