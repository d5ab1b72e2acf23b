package dev.ringfetch.benchmarks;

import dev.ringfetch.benchmarks.spatial.Shape;
import dev.ringfetch.benchmarks.spatial.SpatialSide;
import dev.ringfetch.benchmarks.stores.NativeServer;
import dev.ringfetch.examples.load.Machine;
import dev.ringfetch.examples.process.Rings;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * A benchmark of a spatial index by calls and by direct searches, beside R-trees and BKD trees in
 * the client's process, and beside Redis. Each side has a client's process of its own; all take
 * turns in each row.
 */
@Command(
    name = "spatial",
    modelTransformer = RunOptions.Adding.class,
    mixinStandardHelpOptions = true,
    description = {
      "Measures a spatial index of points and one of boxes, evenly spread, with",
      "16-byte ids and 32-byte values: searches of about 10, 100 and 1,000 entries and",
      "the 10 nearest, by calls and in memory, beside an STRtree of JTS and BKD trees",
      "of Lucene in process, and GEOSEARCH of Redis where it is installed; inserts;",
      "bytes of an entry; and moves beside searches of 100. A sample of the answers is",
      "compared with a look at all entries: a wrong one fails the run. 5 minutes."
    },
    footer = "The last lines are for scripts. A goal that is not reached does not fail the run.")
final class SpatialBench implements Callable<Integer> {
  private static final long SEED = 20_261_129;

  private final PrintStream out = System.out;

  @Mixin
  private final RunOptions options =
      new RunOptions()
          .withQuick("About a minute: fewer entries, fewer and shorter rounds.")
          .withRounds(5, 3)
          .withMillis(1000, 200)
          .withWarmUp(
              "Milliseconds before the first round of each row and side. Default: %s.", 2000, 500);

  @Option(names = "--entries", description = "Of each store. Default: 1000000, 50000 if quick.")
  private Integer entries;

  @Option(
      names = "--shapes",
      split = ",",
      description = "Of ${COMPLETION-CANDIDATES}. Default: both.")
  private List<Shape> shapes = List.of(Shape.values());

  @Option(
      names = "--peers",
      split = ",",
      description = "Of ${COMPLETION-CANDIDATES}. Default: all there are.")
  private List<SpatialSide> peers = List.of(SpatialSide.values());

  @Option(names = "--partitions", description = "Of the index. Default: ${DEFAULT-VALUE}.")
  private int partitions = 4;

  @Option(names = "--checks", description = "Answers that are compared in each row. Default: 50.")
  private int checks = 50;

  @Mixin private Rings rings;

  @Override
  public Integer call() throws IOException {
    final SpatialRun.Settings settings =
        new SpatialRun.Settings(
            options.or(entries, 1_000_000, 50_000),
            Long.getLong("ringfetch.seed", SEED),
            partitions,
            checks,
            new Timing(options.rounds(), options.millis(), options.warmUp()),
            rings);
    Machine.print(out);
    out.printf(
        "%,d entries, %d partitions; %d rounds of %d ms by turns, median [least .. most] of them;"
            + " seed %d (-Dringfetch.seed)%n",
        settings.entries(), partitions, options.rounds(), options.millis(), settings.seed());
    final Optional<Path> redis = NativeServer.find("redis-server");
    final Set<SpatialSide> sides = EnumSet.copyOf(peers);
    if (sides.contains(SpatialSide.direct)) {
      sides.add(SpatialSide.ringfetch); // has the entries
    }
    if (redis.isEmpty() && sides.remove(SpatialSide.redis)) {
      out.println("left out: redis-server is not installed");
    }
    final List<String> results = new ArrayList<>();
    long wrong = 0;
    for (final Shape shape : shapes) {
      try (SpatialRun run = new SpatialRun(shape, settings, out, results)) {
        for (final SpatialSide side : sides) {
          if (side.has(shape)) {
            run.start(side, redis);
          }
        }
        wrong += run.measure();
      }
    }
    out.println();
    results.forEach(out::println);
    out.println("wrong answers: " + wrong);
    return wrong == 0 ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
  }
}
