package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.Spread;
import dev.ringfetch.examples.process.Answer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The results of {@link IndexBench}, for people and for scripts. */
final class IndexTable {
  /** Figures of rounds, and what lines for scripts call them. */
  private enum Figure {
    p50("p50", "p50_us", 3, true),
    p99("p99", "p99_us", 3, true),
    p999("p999", "p999_us", 3, false),
    p9999("p9999", "p9999_us", 3, false),
    max("max", "max_us", 1, false),
    maxCpu("maxCpu", "max_cpu_us", 1, false),
    longer("long", "longer_than_1_ms", 0, false),
    perSecond("perSecond", "per_s", 0, true),
    seconds("seconds", "seconds", 3, true),
    bytes("bytes", "bytes_per_entry", 1, false),
    writes("writesPerSecond", "writes_s", 0, false),
    clientCores("clientCores", "cpu_client", 2, false),
    serverCores("serverCores", "cpu_server", 2, false);

    private final String field;
    private final String text;
    private final int digits;
    private final boolean spread; // whether least and most are of interest to scripts

    Figure(String field, String text, int digits, boolean spread) {
      this.field = field;
      this.text = text;
      this.digits = digits;
      this.spread = spread;
    }

    /** Percentiles of operations that were not timed are 0. */
    boolean isIn(List<Answer> rounds) {
      final boolean mayBeZero = digits == 0 || digits == 2;
      return rounds.stream().allMatch(round -> round.has(field))
          && (mayBeZero || rounds.stream().anyMatch(round -> round.figure(field) > 0));
    }

    Spread of(List<Answer> rounds) {
      return Spread.of(rounds, round -> round.figure(field));
    }
  }

  private IndexTable() {}

  /** Rows, goals, and lines for scripts. */
  static String of(IndexLog log, List<IndexRow> rows) {
    final List<String> lines = new ArrayList<>();
    final List<String> results = new ArrayList<>();
    lines.add(
        String.format(
            "%-26s %-17s %6s  %-30s %-32s %s",
            "row", "peer", "rounds", "p50 us", "p99 us", "per second, or what is named"));
    for (final IndexRow row : rows) {
      for (final String peer : log.peers(row)) {
        final List<Answer> rounds = log.rounds(row, peer);
        lines.add(line(row, peer, rounds));
        results.add(result(row, peer, rounds));
      }
    }
    final List<IndexGoal> goals = IndexGoal.of(log);
    if (!goals.isEmpty()) {
      lines.add("");
      goals.forEach(goal -> lines.add(goal.line()));
      goals.forEach(goal -> results.add(goal.result()));
    }
    lines.add("");
    lines.addAll(results);
    return String.join("\n", lines) + "\n";
  }

  private static String line(IndexRow row, String peer, List<Answer> rounds) {
    return String.format(
            Locale.ROOT,
            "%-26s %-17s %6d  %-30s %-32s %s",
            row.text(),
            peer,
            rounds.size(),
            text(Figure.p50, rounds),
            text(Figure.p99, rounds),
            rest(rounds))
        .stripTrailing();
  }

  private static String text(Figure figure, List<Answer> rounds) {
    return figure.isIn(rounds) ? figure.of(rounds).text(2) : "";
  }

  private static String rest(List<Answer> rounds) {
    if (Figure.bytes.isIn(rounds)) {
      return Figure.bytes.of(rounds).text(1) + " bytes an entry";
    }
    final StringBuilder text = new StringBuilder(Figure.perSecond.of(rounds).text(0));
    if (Figure.seconds.isIn(rounds)) {
      text.append(", ").append(Figure.seconds.of(rounds).text(2)).append(" s");
    }
    if (Figure.longer.isIn(rounds) || Figure.writes.isIn(rounds)) {
      text.append(", longest ").append(Figure.max.of(rounds).text(0)).append(" us");
    }
    return text.toString();
  }

  private static String result(IndexRow row, String peer, List<Answer> rounds) {
    final StringBuilder line =
        new StringBuilder(
            String.format(
                "RESULT row=%s peer=%s threads=%d rounds=%d",
                row.text(), peer, row.threads(), rounds.size()));
    for (final Figure figure : Figure.values()) {
      if (figure.isIn(rounds)) {
        final Spread spread = figure.of(rounds);
        final String number = "%." + figure.digits + "f";
        line.append(String.format(Locale.ROOT, " %s=" + number, figure.text, spread.median()));
        if (figure.spread && rounds.size() > 1) {
          line.append(
              String.format(
                  Locale.ROOT,
                  " %s_least=" + number + " %s_most=" + number,
                  figure.text,
                  spread.least(),
                  figure.text,
                  spread.most()));
        }
      }
    }
    return line.toString();
  }
}
