package dev.ringfetch.benchmarks;

import dev.ringfetch.benchmarks.stores.Mix;
import dev.ringfetch.examples.load.Turns;
import dev.ringfetch.examples.process.Answer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * One run of {@link IndexBench}: starts the sides, loads them, and measures the rounds that its log
 * lacks. Not for several threads.
 */
final class IndexRun implements AutoCloseable {
  /** What a process writes beside reads, in a second: the same for all sides. */
  static final int WRITES_PER_SECOND = 50_000;

  private static final int FURTHER = 4; // part of the warm-up of rows after a side's first

  private final IndexSettings settings;
  private final List<IndexRow> rows;
  private final IndexLog log;
  private final StoreServers servers;
  private final Progress progress;
  private final Lineup<StoreSide, StoreContender> lineup;
  private final Map<StoreSide, Integer> warm = new EnumMap<>(StoreSide.class); // rows so far

  /**
   * Creates it; nothing runs yet.
   *
   * @param rows to measure.
   * @param log with the rounds of an earlier run; new ones are added.
   */
  IndexRun(IndexSettings settings, List<IndexRow> rows, IndexLog log) throws IOException {
    this.settings = settings;
    this.rows = rows;
    this.log = log;
    this.servers = StoreServers.create(settings.rings(), settings.flags());
    this.progress = Progress.ofProcess("bench index", plannedMillis());
    this.lineup = new Lineup<>(progress::tell, StoreContender::close);
  }

  private double plannedMillis() {
    double sum = 0;
    for (final IndexRow row : rows) {
      for (final StoreSide side : sides(row)) {
        final int missing = missing(row, side);
        if (row.isOfRounds() && missing > 0) {
          sum += (double) missing * settings.timing().millis() + furtherWarmUp();
        }
      }
    }
    return sum;
  }

  private int furtherWarmUp() {
    return settings.warmUp() / FURTHER;
  }

  private List<StoreSide> sides(IndexRow row) {
    return row.sides().stream().filter(settings.sides()::contains).toList();
  }

  private int missing(IndexRow row, StoreSide side) {
    return Math.max(0, settings.rounds() - log.rounds(row, side.text()).size());
  }

  /**
   * Measures what is missing.
   *
   * @return false, after a message, if a side cannot take part.
   */
  boolean measure() throws IOException {
    final List<IndexRow> unfinished =
        rows.stream()
            .filter(IndexRow::isOfRounds)
            .filter(row -> sides(row).stream().anyMatch(side -> missing(row, side) > 0))
            .toList();
    boolean complete = true;
    try {
      if (!unfinished.isEmpty() || lacksLoads()) {
        complete = start();
        load();
      }
      for (final IndexRow row : unfinished) {
        measure(row);
      }
      if (rows.contains(IndexRow.growth) && log.peers(IndexRow.growth).isEmpty()) {
        progress.begin("growth to " + settings.growth());
        new IndexGrowth(settings, servers, log).measure();
      }
      return complete;
    } finally {
      progress.clear();
    }
  }

  private boolean lacksLoads() {
    return (rows.contains(IndexRow.load) || rows.contains(IndexRow.memory))
        && sides(IndexRow.load).stream().anyMatch(side -> missing(IndexRow.load, side) > 0);
  }

  /** Starts all sides of the rows, and those whose entries they read. */
  private boolean start() throws IOException {
    boolean complete = true;
    for (final StoreSide side : StoreSide.values()) {
      if (settings.sides().contains(side) && rows.stream().anyMatch(row -> isNeeded(row, side))) {
        progress.begin("starting " + side.text());
        complete &=
            lineup.add(
                side,
                side.text(),
                () -> StoreContender.start(side, servers, settings.contender()),
                contender -> {});
      }
    }
    return complete;
  }

  private static boolean isNeeded(IndexRow row, StoreSide side) {
    return row != IndexRow.growth
        && row.sides().stream().anyMatch(one -> one == side || one.needs() == side);
  }

  /** Loads all stores by turns: once, or for the rounds of the row. */
  private void load() throws IOException {
    final int loads = rows.contains(IndexRow.load) ? settings.rounds() : 1;
    final List<StoreSide> loaded =
        StoreSide.LOADED.stream().filter(lineup.peers()::contains).toList();
    final var unused =
        Turns.take(
            loaded,
            loads,
            (side, round) -> {
              if (round == 0 || missing(IndexRow.load, side) > 0) {
                load(side, round);
              }
              return round;
            });
  }

  /**
   * What a store has before its first load: a server counts more than its entries, and one of
   * indexes those of all of them.
   */
  private long emptyBytes(StoreSide side) {
    return switch (side) {
      case ordered, grpc, redis, redisSorted, memcached ->
          lineup.get(side).ask("used").count("bytes");
      case ringfetch, echo, direct, orderedDirect, chronicle, lmdb -> 0;
    };
  }

  private void load(StoreSide side, int round) {
    progress.begin("loading " + side.text());
    final StoreContender contender = lineup.get(side);
    final long emptyBytes = round == 0 ? emptyBytes(side) : 0;
    contender.ask("clear");
    final Answer loaded = contender.ask("load", 0, settings.entries());
    try {
      if (round == 0 && log.rounds(IndexRow.memory, side.text()).isEmpty()) {
        final long bytes = contender.ask("used").count("bytes") - emptyBytes;
        log.add(
            IndexRow.memory,
            side.text(),
            new Answer().with("wrong", 0).with("bytes", (double) bytes / settings.entries()));
      }
      if (missing(IndexRow.load, side) > 0) {
        log.add(IndexRow.load, side.text(), loaded);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void measure(IndexRow row) {
    final List<StoreSide> sides = row.sides().stream().filter(lineup.peers()::contains).toList();
    final List<StoreSide> unfinished = new ArrayList<>();
    for (final StoreSide side : sides) {
      if (missing(row, side) > 0) {
        warmUp(row, side);
        unfinished.add(side);
      }
    }
    final var unused =
        Turns.take(
            unfinished,
            settings.rounds(),
            (side, round) -> {
              if (log.rounds(row, side.text()).size() <= round) {
                progress.begin(
                    String.format(
                        "round %d of %d: %s of %s",
                        round + 1, settings.rounds(), row, side.text()));
                round(row, side);
                progress.done(settings.timing().millis());
              }
              return round;
            });
  }

  private void warmUp(IndexRow row, StoreSide side) {
    final boolean first = warm.merge(side, 1, Integer::sum) == 1;
    final int millis = Math.max(1, first ? settings.warmUp() : furtherWarmUp());
    progress.begin(String.format("warming up %s of %s", row, side.text()));
    final var unused = run(lineup.get(side), row, millis);
    progress.done(millis);
  }

  private static Answer run(StoreContender contender, IndexRow row, int millis) {
    return contender.ask("run", row.mix(), row.threads(), row.isTimed(), millis);
  }

  private void round(IndexRow row, StoreSide side) {
    final StoreContender contender = lineup.get(side);
    final boolean besideWrites = row == IndexRow.directBesideWrites;
    try {
      if (besideWrites) {
        contender.writer().ask("begin", Mix.put, settings.entries(), WRITES_PER_SECOND);
      }
      final Costed<Answer> costed =
          contender.measure(besideWrites, () -> run(contender, row, settings.timing().millis()));
      final Answer round =
          costed
              .value()
              .with("foreign", costed.foreign())
              .with("resting", costed.restingCores())
              .with("clientCores", costed.clientCores())
              .with("serverCores", costed.serverCores());
      if (besideWrites) {
        final Answer written = contender.writer().ask("end");
        round.with("writesPerSecond", written.figure("perSecond"));
      }
      log.add(row, side.text(), round);
      if (Marks.isMarked(costed.foreign(), costed.restingCores())) {
        progress.tell(
            String.format(
                "marked: others had %.0f %% of the machine, of which peers at rest %.2f cores: %s",
                100 * costed.foreign(), costed.restingCores(), row + " of " + side.text()));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    try {
      lineup.close();
    } finally {
      servers.close();
    }
  }
}
