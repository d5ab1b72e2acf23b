package dev.ringfetch.benchmarks;

import dev.ringfetch.benchmarks.spatial.Shape;
import dev.ringfetch.benchmarks.spatial.SpatialClient;
import dev.ringfetch.benchmarks.spatial.SpatialSide;
import dev.ringfetch.benchmarks.stores.IndexProcess;
import dev.ringfetch.benchmarks.stores.NativeServer;
import dev.ringfetch.examples.load.Spread;
import dev.ringfetch.examples.load.Turns;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.ChildProcess;
import dev.ringfetch.examples.process.Rings;
import dev.ringfetch.examples.process.TemporaryDirectory;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** The sides of {@link SpatialBench} with entries of one shape, their processes, and its rows. */
final class SpatialRun implements AutoCloseable {
  private static final List<String> FLAGS = List.of("-XX:+UseSerialGC", "-Xms1g", "-Xmx2g");
  private static final long BYTES_PER_ENTRY = 400; // twice what is expected
  private static final long MIN_BYTES = 256L << 20;
  private static final int BESIDE_MOVES = 100; // finds of a search
  private static final List<Integer> FINDS = List.of(10, 100, 1_000, SpatialClient.NEAREST);

  /**
   * The parameters that the runs share.
   *
   * @param partitions of an index.
   * @param checks answers that are compared in each row.
   */
  record Settings(int entries, long seed, int partitions, int checks, Timing timing, Rings rings) {}

  private final Shape shape;
  private final Settings settings;
  private final PrintStream out;
  private final List<String> results;
  private final Map<SpatialSide, ChildProcess> clients = new EnumMap<>(SpatialSide.class);
  private final TemporaryDirectory folder = new TemporaryDirectory("ringfetch-bench-spatial-");
  private final ChildProcess index;
  private NativeServer redis;
  private long wrong;

  SpatialRun(Shape shape, Settings settings, PrintStream out, List<String> results)
      throws IOException {
    this.shape = shape;
    this.settings = settings;
    this.out = out;
    this.results = results;
    final List<String> arguments = new ArrayList<>(settings.rings.serverArguments());
    arguments.addAll(
        List.of(
            "--memory",
            Long.toString(MIN_BYTES + settings.entries * BYTES_PER_ENTRY),
            "--partitions",
            Integer.toString(settings.partitions)));
    this.index = ChildProcess.start(FLAGS, IndexProcess.class, arguments);
  }

  /**
   * Starts a side, and loads its entries if it has its own.
   *
   * @param program of the Redis server, which that side needs.
   */
  void start(SpatialSide side, Optional<Path> program) throws IOException {
    if (clients.isEmpty()) {
      out.printf("%n%s%n", shape);
    }
    if (side == SpatialSide.redis) {
      redis = NativeServer.redis(program.orElseThrow(), socket());
    }
    final ChildProcess client = client(side);
    clients.put(side, client);
    if (side.isLoaded()) {
      final double perSecond = client.ask("load").figure("perSecond");
      final double bytes = client.ask("used").figure("bytes") / settings.entries;
      out.printf(
          "  %-18s %-18s inserts/s %,12.0f  bytes/entry %,8.1f%n",
          "load", side.text(), perSecond, bytes);
      result("row=load side=%s per_s=%.0f entry_bytes=%.1f", side.text(), perSecond, bytes);
    }
  }

  private Path socket() {
    return folder.path().resolve("redis");
  }

  private ChildProcess client(SpatialSide side) throws IOException {
    final boolean isIndex = side == SpatialSide.ringfetch || side == SpatialSide.direct;
    return SpatialClient.start(
        side,
        shape,
        settings.entries,
        settings.seed,
        isIndex ? StoreServers.target(index) : null,
        side == SpatialSide.redis ? socket() : null,
        settings.rings,
        FLAGS);
  }

  /** Measures all rows; returns the number of wrong answers. */
  long measure() throws IOException {
    for (final int finds : FINDS) {
      final boolean isNearest = finds == SpatialClient.NEAREST;
      final Set<SpatialSide> sides = sides(side -> !isNearest || side.hasNearest());
      for (final SpatialSide side : sides) {
        wrong += ask(side, "check", finds, settings.checks).count("wrong");
        final Answer unused = ask(side, "run", finds, settings.timing.warmUp());
      }
      print(
          isNearest ? "nearest-" + SpatialClient.NEAREST_LIMIT : "search-" + finds,
          Turns.take(
              sides,
              settings.timing.rounds(),
              (side, round) -> ask(side, "run", finds, settings.timing.millis())));
    }
    final Map<SpatialSide, ChildProcess> movers = new EnumMap<>(SpatialSide.class);
    try {
      for (final SpatialSide side : sides(SpatialSide::hasMoves)) {
        movers.put(side, client(side));
        besideMoves(side, movers.get(side), settings.timing.warmUp());
      }
      print(
          "search-" + BESIDE_MOVES + "-moves",
          Turns.take(
              movers.keySet(),
              settings.timing.rounds(),
              (side, round) -> besideMoves(side, movers.get(side), settings.timing.millis())));
    } finally {
      movers.values().forEach(ChildProcess::close);
    }
    return wrong;
  }

  private Set<SpatialSide> sides(Predicate<SpatialSide> which) {
    return clients.keySet().stream()
        .filter(which)
        .collect(Collectors.toCollection(LinkedHashSet::new));
  }

  private Answer ask(SpatialSide side, String command, Object... arguments) {
    return clients.get(side).ask(command, arguments);
  }

  private Answer besideMoves(SpatialSide side, ChildProcess mover, int millis) {
    final Answer unused = mover.ask("begin-moves");
    final Answer searches = ask(side, "run", BESIDE_MOVES, millis);
    return searches.with("moves", mover.ask("end-moves").text("perSecond"));
  }

  private void print(String row, Map<SpatialSide, List<Answer>> taken) {
    taken.forEach(
        (side, rounds) -> {
          final Spread p50 = spread(rounds, "p50");
          final Spread p99 = spread(rounds, "p99");
          final boolean hasMoves = rounds.get(0).has("moves");
          out.printf(
              "  %-18s %-18s p50 us %-28s p99 us %-28s found %,.0f%s%s%n",
              row,
              side.text(),
              p50.text(1),
              p99.text(1),
              spread(rounds, "found").median(),
              hasMoves ? "  moves/s " + spread(rounds, "moves").text(0) : "",
              rounds.get(rounds.size() - 1).count("undecided") == 0
                  ? ""
                  : "  by calls " + rounds.get(rounds.size() - 1).count("undecided"));
          result(
              "row=%s side=%s p50_us=%.2f p99_us=%.2f per_s=%.0f found=%.1f%s",
              row,
              side.text(),
              p50.median(),
              p99.median(),
              spread(rounds, "perSecond").median(),
              spread(rounds, "found").median(),
              hasMoves
                  ? String.format(Locale.ROOT, " moves_s=%.0f", spread(rounds, "moves").median())
                  : "");
        });
    ratio(row, taken, SpatialSide.direct, SpatialSide.strtree);
    ratio(row, taken, SpatialSide.direct, SpatialSide.bkd);
    ratio(row, taken, SpatialSide.redis, SpatialSide.ringfetch);
  }

  private static Spread spread(List<Answer> rounds, String figure) {
    return Spread.of(rounds, round -> round.figure(figure));
  }

  /** Prints what a side takes by what another one takes, if both took part. */
  private void ratio(
      String row, Map<SpatialSide, List<Answer>> taken, SpatialSide side, SpatialSide by) {
    if (taken.containsKey(side) && taken.containsKey(by)) {
      final Spread ratio =
          Spread.ofRatios(taken.get(side), taken.get(by), round -> round.figure("p50"));
      out.printf("  %-18s p50 of %s by %s: %s%n", row, side.text(), by.text(), ratio.text(2));
      result(
          "row=%s ratio=p50 side=%s by=%s median=%.2f least=%.2f most=%.2f",
          row, side.text(), by.text(), ratio.median(), ratio.least(), ratio.most());
    }
  }

  private void result(String format, Object... arguments) {
    results.add("RESULT shape=" + shape + " " + String.format(Locale.ROOT, format, arguments));
  }

  @Override
  public void close() throws IOException {
    clients.values().forEach(ChildProcess::close);
    if (redis != null) {
      redis.close();
    }
    index.close();
    folder.close();
  }
}
