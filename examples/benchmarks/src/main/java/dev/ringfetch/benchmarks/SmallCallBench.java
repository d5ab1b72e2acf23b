package dev.ringfetch.benchmarks;

import dev.ringfetch.benchmarks.BulkBench.Executors;
import dev.ringfetch.benchmarks.BulkBench.Schedule;
import dev.ringfetch.benchmarks.bulk.Company;
import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.load.Spread;
import dev.ringfetch.examples.load.Turns;
import dev.ringfetch.examples.process.Answer;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A benchmark of small calls alone and beside an upload on the same channel: shows how long the
 * upload delays them.
 */
final class SmallCallBench {
  private static final int LENGTH = 32;

  private final BulkProcesses processes;
  private final Schedule schedule;
  private final Marks marks;
  private final List<Row> rows = new ArrayList<>();

  SmallCallBench(BulkProcesses processes, Schedule schedule, Marks marks) {
    this.processes = processes;
    this.schedule = schedule;
    this.marks = marks;
  }

  /** A contender that makes small calls, and the upload beside them. */
  private record Entrant(Contender contender, Executors executors, Company company) {}

  /** The result of one round: the small calls, and the upload in GB/s. */
  private record Round(Figures calls, double gigabytes) {
    static Round parse(Answer answer) {
      return new Round(Figures.parse(answer), answer.figure("gb"));
    }
  }

  /** The results. */
  private record Row(Entrant entrant, Spread p50, Spread p99, Spread gigabytes) {
    Row(Entrant entrant, List<Round> rounds) {
      this(
          entrant,
          Spread.of(rounds, round -> round.calls.p50Us()),
          Spread.of(rounds, round -> round.calls.p99Us()),
          Spread.of(rounds, Round::gigabytes));
    }
  }

  /** Makes all contenders issue calls with such executors, by turns. */
  void measure(Executors executors) {
    final List<Entrant> entrants = new ArrayList<>();
    for (final Contender contender : processes.pairs().get(executors).contenders()) {
      entrants.add(new Entrant(contender, executors, Company.none));
      entrants.add(new Entrant(contender, executors, Company.oneThread));
      if (executors != Executors.direct) { // there it is the transport's one thread that issues
        entrants.add(new Entrant(contender, executors, Company.twoThreads));
      }
    }
    System.err.printf(
        "small calls beside bulk, %s executors: %d ways%n", executors.text(), entrants.size());
    for (final Entrant entrant : entrants) {
      final Costed<Answer> unused = run(entrant, schedule.warmUp());
    }
    Turns.take(
            entrants,
            schedule.rounds(),
            (entrant, round) -> Round.parse(marks.counted(run(entrant, schedule.millis()))))
        .forEach((entrant, rounds) -> rows.add(new Row(entrant, rounds)));
  }

  private Costed<Answer> run(Entrant entrant, int millis) {
    return processes
        .pairs()
        .get(entrant.executors)
        .measure(
            entrant.contender,
            "beside",
            entrant.company,
            entrant.executors == Executors.direct,
            millis);
  }

  /** Prints what was measured: for people, then for scripts. */
  void print(PrintStream out) {
    if (rows.isEmpty()) {
      return;
    }
    out.printf(
        "%nsmall unary calls (%d bytes, async stub, one at a time) beside an upload of 1 MiB"
            + " messages on the same channel%ndirect: the transport's one thread issues both;"
            + " default: a thread of the client does, the executor of its calls; ratio: p99 to that"
            + " beside nothing%n%n",
        LENGTH);
    out.printf(
        "%-9s %-5s %-20s %-32s %-36s %6s %8s%n",
        "executors", "peer", "beside", "p50 us", "p99 us", "ratio", "its GB/s");
    for (final Row row : rows) {
      out.printf(
          Locale.ROOT,
          "%-9s %-5s %-20s %-32s %-36s %6.1f %8.2f%n",
          row.entrant.executors.text(),
          row.entrant.contender,
          row.entrant.company.text(),
          row.p50.text(1),
          row.p99.text(1),
          ratio(row),
          row.gigabytes.median());
    }
    out.println();
    for (final Row row : rows) {
      if (row.entrant.company != Company.none) {
        out.printf(
            Locale.ROOT,
            "RESULT peer=%s mode=beside-%s-%s payload=%d p99_us=%.1f ratio=%.2f gb_s=%.3f%n",
            row.entrant.contender,
            row.entrant.company,
            row.entrant.executors.text(),
            LENGTH,
            row.p99.median(),
            ratio(row),
            row.gigabytes.median());
      }
    }
  }

  /** How much longer the slow ones of the calls take than beside nothing. */
  private double ratio(Row row) {
    return rows.stream()
        .filter(
            other ->
                other.entrant.company == Company.none
                    && other.entrant.contender == row.entrant.contender
                    && other.entrant.executors == row.entrant.executors)
        .mapToDouble(other -> row.p99.median() / other.p99.median())
        .findFirst()
        .orElseThrow();
  }
}
