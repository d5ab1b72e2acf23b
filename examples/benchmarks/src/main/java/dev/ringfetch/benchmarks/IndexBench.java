package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.Machine;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.ChildFailure;
import dev.ringfetch.examples.process.Rings;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * A benchmark of an index of small entries, by calls and by direct reads, beside an echo over the
 * same ring, other servers, and stores in files that processes map. Each side has a client's
 * process of its own; all of them take turns in each row.
 */
@Command(
    name = "index",
    modelTransformer = RunOptions.Adding.class,
    mixinStandardHelpOptions = true,
    description = {
      "Measures an index of entries with 16-byte keys and 32-byte values, drawn by YCSB's scrambled",
      "Zipf distribution: by calls and by direct reads, beside an echo of the same bytes over the",
      "same ring, a map behind plain gRPC, Chronicle Map, LMDB, and, where they are installed,",
      "Redis and memcached; and scans of an ordered index, beside LMDB and a sorted set of Redis.",
      "Each value is checked: a wrong one fails the run."
    },
    footer = "The last lines are for scripts. A goal that is not reached does not fail the run.")
final class IndexBench implements Callable<Integer> {
  /** Equal for all JVMs; the heap is there from the start on. */
  private static final List<String> FLAGS = List.of("-XX:+UseSerialGC", "-Xms1g", "-Xmx1g");

  /** Unless set by the system property {@code ringfetch.seed}. */
  private static final long SEED = 20_261_126;

  private final PrintStream out = System.out;

  @Mixin
  private final RunOptions options =
      new RunOptions()
          .withQuick("About two minutes: fewer entries, fewer and shorter rounds.")
          .withRounds(5, 2)
          .withMillis(1500, 300)
          .withWarmUp(
              "Milliseconds before the first row of each side, and a quarter of that before each"
                  + " further one. Default: %s.",
              8000, 1500);

  @Option(names = "--entries", description = "Of each store. Default: 1000000, 100000 if quick.")
  private Integer entries;

  @Option(
      names = "--growth",
      description = "Entries to which an index grows. Default: 10000000, 1000000 if quick.")
  private Integer growth;

  @Option(names = "--rows", split = ",", description = "Of ${COMPLETION-CANDIDATES}. Default: all.")
  private List<IndexRow> rows = List.of(IndexRow.values());

  @Option(
      names = "--peers",
      split = ",",
      description = "Of ${COMPLETION-CANDIDATES}. Default: all there are.")
  private List<StoreSide> peers = List.of(StoreSide.values());

  @Option(
      names = "--logs",
      paramLabel = "DIR",
      description =
          "Folder for the figures of each round (rounds.log) and the tables (table.txt). Default: a"
              + " new one where temporary files are.")
  private Path folder;

  @Option(
      names = "--resume",
      description =
          "Go on with a run that was interrupted: rounds that the folder of --logs has are not"
              + " measured again. The other options are to be the same.")
  private boolean resume;

  @Mixin private Rings rings;
  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws IOException {
    check(
        options.or(growth, 10_000_000, 1_000_000) > IndexGrowth.FIRST,
        "--growth is more than " + IndexGrowth.FIRST);
    check(folder != null || !resume, "--resume goes on with the folder of --logs");
    final Timing timing = new Timing(options.rounds(), options.millis(), options.warmUp());
    final IndexSettings settings =
        new IndexSettings(
            options.or(entries, 1_000_000, 100_000),
            options.or(growth, 10_000_000, 1_000_000),
            Long.getLong("ringfetch.seed", SEED),
            timing,
            sides(),
            rings,
            FLAGS);
    try (IndexLog log = log(settings)) {
      print(settings);
      return run(settings, log) ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    }
  }

  private void check(boolean right, String otherwise) {
    if (!right) {
      throw new ParameterException(spec.commandLine(), otherwise);
    }
  }

  /** Those that can take part; prints the reason for each that cannot. */
  private Set<StoreSide> sides() {
    final Set<StoreSide> sides = EnumSet.noneOf(StoreSide.class);
    for (final StoreSide side : peers) {
      final String obstacle = StoreContender.obstacle(side);
      if (obstacle.isEmpty()) {
        sides.add(side);
        sides.add(side.needs());
      } else {
        out.println("left out: " + obstacle);
      }
    }
    return sides;
  }

  private IndexLog log(IndexSettings settings) throws IOException {
    if (folder == null) {
      folder = Files.createTempDirectory("ringfetch-bench-index-logs-");
    }
    try {
      return IndexLog.open(
          folder,
          resume,
          String.join(
              " ",
              settings.timing().settings(),
              "entries=" + settings.entries(),
              "growth=" + settings.growth(),
              "seed=" + settings.seed(),
              String.join(" ", settings.flags())));
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
  }

  private void print(IndexSettings settings) throws IOException {
    Machine.print(out);
    out.println("logs     " + folder.toAbsolutePath());
    out.println("seed     " + settings.seed() + " (-Dringfetch.seed)");
    out.printf(
        "%,d entries; %d rounds of %d ms by turns, median [least .. most] of them; handlers on the"
            + " threads of the transport; JVMs: %s%n"
            + "beside writes: %,d a second by another process; growth: from %,d to %,d entries,"
            + " once%n%n",
        settings.entries(),
        settings.rounds(),
        settings.timing().millis(),
        String.join(" ", settings.flags()),
        IndexRun.WRITES_PER_SECOND,
        IndexGrowth.FIRST,
        settings.growth());
  }

  /** Measures, and prints also what an unfinished run has; returns whether all is as it should. */
  private boolean run(IndexSettings settings, IndexLog log) throws IOException {
    boolean complete = false;
    try (IndexRun run = new IndexRun(settings, rows, log)) {
      complete = run.measure();
    } catch (ChildFailure e) {
      System.err.println("bench index: " + e.getMessage());
    }
    final String table = IndexTable.of(log, rows);
    out.print(table);
    log.write("table.txt", table);
    final List<Answer> rounds = log.all();
    final List<Answer> costed = rounds.stream().filter(round -> round.has("foreign")).toList();
    out.printf(
        "%n%s%n",
        Marks.line(
            costed.stream()
                .filter(round -> Marks.isMarked(round.figure("foreign"), round.figure("resting")))
                .count(),
            costed.size()));
    final long wrong = rounds.stream().mapToLong(round -> round.count("wrong")).sum();
    out.println("wrong answers: " + wrong);
    return complete && wrong == 0;
  }
}
