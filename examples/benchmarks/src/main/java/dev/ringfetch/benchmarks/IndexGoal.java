package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.Spread;
import dev.ringfetch.examples.process.Answer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A comparison of {@link IndexBench} with what was measured, and the goal if there is one.
 *
 * @param name for scripts.
 * @param unit of figures; "ratio" if it compares two peers of one run.
 * @param measured over the rounds.
 * @param bound what the median is compared with; {@link #NONE} if there is no goal.
 * @param atMost whether the bound is the most, or the least.
 */
record IndexGoal(String name, String unit, Spread measured, double bound, boolean atMost) {
  /** No bound. */
  static final double NONE = Double.NaN;

  private static final String RATIO = "ratio";
  private static final String US = "us";
  private static final double MILLION = 1e6;
  private static final double ECHO_RATIO = 1.3;
  private static final double REDIS_RATIO = 40;
  private static final double YCSB_RATIO = 5;
  private static final double DIRECT_US = 0.4;
  private static final double DIRECT_PER_SECOND = 2.2e6;
  private static final double DIRECT_PER_SECOND_OF_TWO = 4e6;
  private static final double PUT_P99_US = 20;
  private static final double ENTRY_BYTES = 77; // 1.6 times key and value
  private static final double LOAD_SECONDS = 1; // of a million entries
  private static final double STEP_US = 1000;
  private static final double ORDERED_ECHO_RATIO = 1.4;
  private static final double SCAN_REDIS_RATIO = 8;
  private static final double SCAN_DIRECT_RATIO = 3;
  private static final double ORDERED_ENTRY_BYTES = 89; // what LMDB takes
  private static final double ORDERED_LOAD_SECONDS = 2; // of a million entries

  /** Whether it was reached. */
  boolean isReached() {
    return atMost ? measured.median() <= bound : measured.median() >= bound;
  }

  private boolean hasBound() {
    return !Double.isNaN(bound);
  }

  /** For people. */
  String line() {
    return String.format(
            Locale.ROOT,
            "%-46s %-6s %-42s %s",
            name,
            unit,
            measured.text(2),
            hasBound()
                ? String.format(
                    Locale.ROOT,
                    "%-8s %,12.2f  %s",
                    atMost ? "at most" : "at least",
                    bound,
                    isReached() ? "reached" : "NOT REACHED")
                : "")
        .stripTrailing();
  }

  /** For scripts. */
  String result() {
    final String figures =
        String.format(
            Locale.ROOT,
            "RESULT goal=%s unit=%s median=%.3f least=%.3f most=%.3f",
            name,
            unit,
            measured.median(),
            measured.least(),
            measured.most());
    return hasBound()
        ? figures
            + String.format(
                Locale.ROOT,
                " %s=%.3f reached=%s",
                atMost ? "at_most" : "at_least",
                bound,
                isReached() ? "yes" : "no")
        : figures;
  }

  /** The goals whose rows were measured. */
  static List<IndexGoal> of(IndexLog log) {
    final Goals goals = new Goals(log);
    for (final IndexRow row : List.of(IndexRow.get, IndexRow.put)) {
      for (final String percentile : List.of("p50", "p99")) {
        goals.ratio(row, StoreSide.ringfetch, StoreSide.echo, percentile, ECHO_RATIO, true);
      }
    }
    goals.ratio(IndexRow.get, StoreSide.redis, StoreSide.ringfetch, "p50", REDIS_RATIO, false);
    goals.figure(IndexRow.put, StoreSide.ringfetch, "p99", US, PUT_P99_US, true);
    goals.figure(IndexRow.directGet, StoreSide.direct, "p50", US, DIRECT_US, true);
    goals.ratio(IndexRow.directGet, StoreSide.direct, StoreSide.chronicle, "p50", 1, true);
    goals.figure(
        IndexRow.directRate1, StoreSide.direct, "perSecond", "1/s", DIRECT_PER_SECOND, false);
    goals.ratio(IndexRow.directRate1, StoreSide.direct, StoreSide.chronicle, "perSecond", 1, false);
    goals.figure(
        IndexRow.directRate2,
        StoreSide.direct,
        "perSecond",
        "1/s",
        DIRECT_PER_SECOND_OF_TWO,
        false);
    goals.ratio(IndexRow.directRate2, StoreSide.direct, StoreSide.chronicle, "perSecond", 1, false);
    goals.figure(IndexRow.directBesideWrites, StoreSide.direct, "p50", US, DIRECT_US, true);
    goals.ratio(IndexRow.directBesideWrites, StoreSide.direct, StoreSide.chronicle, "p50", 1, true);
    for (final IndexRow row : List.of(IndexRow.ycsbA, IndexRow.ycsbB, IndexRow.ycsbC)) {
      for (final StoreSide peer : List.of(StoreSide.redis, StoreSide.memcached)) {
        goals.ratio(row, StoreSide.ringfetch, peer, "perSecond", YCSB_RATIO, false);
      }
    }
    goals.ratio(IndexRow.ycsbCDirect, StoreSide.direct, StoreSide.chronicle, "perSecond", 1, false);
    goals.figure(IndexRow.memory, StoreSide.ringfetch, "bytes", "B", ENTRY_BYTES, true);
    goals.load(StoreSide.ringfetch, LOAD_SECONDS);
    addOrdered(goals);
    goals.growth();
    return goals.found;
  }

  private static void addOrdered(Goals goals) {
    final StoreSide calls = StoreSide.ordered;
    final StoreSide direct = StoreSide.orderedDirect;
    goals.ratio(IndexRow.get, calls, StoreSide.echo, "p50", ORDERED_ECHO_RATIO, true);
    goals.ratio(IndexRow.scan, StoreSide.redisSorted, calls, "p50", SCAN_REDIS_RATIO, false);
    goals.ratio(IndexRow.scan, calls, direct, "p50", SCAN_DIRECT_RATIO, false);
    goals.ratio(IndexRow.scan, direct, StoreSide.lmdb, "p50", 1, true);
    goals.ratio(IndexRow.ycsbE, calls, StoreSide.redisSorted, "perSecond", YCSB_RATIO, false);
    goals.ratio(IndexRow.ycsbE, direct, StoreSide.lmdb, "perSecond", 1, false);
    goals.figure(IndexRow.memory, calls, "bytes", "B", ORDERED_ENTRY_BYTES, true);
    goals.load(calls, ORDERED_LOAD_SECONDS);
  }

  /** The goals that were measured so far. */
  private static final class Goals {
    private final List<IndexGoal> found = new ArrayList<>();
    private final IndexLog log;

    Goals(IndexLog log) {
      this.log = log;
    }

    void figure(
        IndexRow row, StoreSide side, String figure, String unit, double bound, boolean atMost) {
      final List<Answer> rounds = log.rounds(row, side.text());
      if (!rounds.isEmpty()) {
        add(
            name(row, side.text(), figure),
            unit,
            Spread.of(rounds, round -> round.figure(figure)),
            bound,
            atMost);
      }
    }

    /** Of each round the figure of one side by that of another. */
    void ratio(
        IndexRow row, StoreSide of, StoreSide by, String figure, double bound, boolean atMost) {
      ratio(row, of.text(), by.text(), figure, bound, atMost);
    }

    private void ratio(
        IndexRow row, String of, String by, String figure, double bound, boolean atMost) {
      final List<Answer> rounds = log.rounds(row, of);
      final List<Answer> others = log.rounds(row, by);
      final int both = Math.min(rounds.size(), others.size());
      if (both > 0) {
        add(
            name(row, of, figure) + "-by-" + by,
            RATIO,
            Spread.ofRatios(
                rounds.subList(0, both), others.subList(0, both), round -> round.figure(figure)),
            bound,
            atMost);
      }
    }

    /** The index is what goals are about, and is not named. */
    private static String name(IndexRow row, String of, String figure) {
      return row.text() + (figure.equals("perSecond") ? "-rate" : "-" + figure) + suffix(of);
    }

    private static String suffix(String of) {
      final boolean index =
          of.equals(StoreSide.ringfetch.text()) || of.equals(StoreSide.direct.text());
      return index ? "" : "-of-" + of;
    }

    /** Seconds for a million entries, however many there were. */
    void load(StoreSide side, double bound) {
      final List<Answer> rounds = log.rounds(IndexRow.load, side.text());
      if (!rounds.isEmpty()) {
        add(
            "load-of-a-million" + suffix(side.text()),
            "s",
            Spread.of(rounds, round -> MILLION / round.figure("perSecond")),
            bound,
            true);
      }
    }

    void growth() {
      final List<Answer> steps = log.rounds(IndexRow.growth, IndexGrowth.OWNER);
      if (!steps.isEmpty()) {
        // A thread that loses the processor in a step has a longer one by the clock.
        add(
            "growth-longest-step",
            US,
            Spread.of(steps, round -> round.figure("max")),
            STEP_US,
            true);
        add(
            "growth-longest-step-cpu",
            US,
            Spread.of(steps, round -> round.figure("maxCpu")),
            STEP_US,
            true);
      }
      for (final String figure : List.of("p50", "p99", "max", "maxCpu")) {
        ratio(IndexRow.growth, IndexGrowth.OWNER, IndexGrowth.OWNER_UPDATES, figure, NONE, true);
      }
      for (final String percentile : List.of("p50", "p99")) {
        ratio(
            IndexRow.growth,
            IndexGrowth.BESIDE_GROWTH,
            IndexGrowth.BESIDE_UPDATES,
            percentile,
            NONE,
            true);
      }
    }

    private void add(String name, String unit, Spread measured, double bound, boolean atMost) {
      found.add(new IndexGoal(name, unit, measured, bound, atMost));
    }
  }
}
