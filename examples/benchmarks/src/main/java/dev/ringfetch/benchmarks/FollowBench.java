package dev.ringfetch.benchmarks;

import dev.ringfetch.benchmarks.near.NearRead;
import dev.ringfetch.examples.load.Machine;
import dev.ringfetch.examples.process.Rings;
import java.io.IOException;
import java.io.PrintStream;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * A benchmark of chains: by one call, by a kernel, by reads of memory, and by a call for each
 * entry.
 */
@Command(
    name = "follow",
    modelTransformer = RunOptions.Adding.class,
    mixinStandardHelpOptions = true,
    description = {
      "Measures chains of entries, each of which has the key of the next one: by one",
      "call that follows at the server, by a kernel, by reads of memory one after the",
      "other, and by a Get for each entry. The four take turns. A minute."
    },
    footer = "The last lines are for scripts.")
final class FollowBench implements Callable<Integer> {
  private final PrintStream out = System.out;

  @Mixin
  private final RunOptions options =
      new RunOptions()
          .withQuick("A quarter of it: fewer and shorter rounds.")
          .withRounds(7, 3)
          .withMillis(1000, 200)
          .withWarmUp("Milliseconds before the first round of each read. Default: %s.", 2000, 500);

  @Option(names = "--entries", description = "Of the index. Default: ${DEFAULT-VALUE}.")
  private int entries = 100_000;

  @Option(names = "--hops", split = ",", description = "Of a chain. Default: 2,4,10.")
  private List<Integer> hops = List.of(2, 4, 10);

  @Mixin private Rings rings;

  @Override
  public Integer call() throws IOException {
    Machine.print(out);
    try (NearRun run = new NearRun(entries, rings, options, out)) {
      for (final int each : hops) {
        run.measure("follow-" + each, NearRead.CHAIN, each);
      }
      return run.report() == 0 ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    }
  }
}
