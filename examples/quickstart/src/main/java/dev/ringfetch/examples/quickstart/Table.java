package dev.ringfetch.examples.quickstart;

import dev.ringfetch.examples.load.Figures;
import java.io.PrintStream;
import java.util.Locale;
import java.util.Map;

/** The table of results, for people. */
final class Table {
  private final PrintStream out;
  private final String ring;
  private final boolean posts;

  /**
   * Creates it.
   *
   * @param ring name of the ring's fabric.
   * @param posts whether it works with work requests.
   */
  Table(PrintStream out, String ring, boolean posts) {
    this.out = out;
    this.ring = ring;
    this.posts = posts;
  }

  void head() {
    out.println();
    out.printf(
        Locale.ROOT,
        "  %-10s %-9s %9s %11s %11s %11s %7s%s%n",
        "transport",
        "executors",
        "calls",
        "p50 us",
        "p99 us",
        "calls/s",
        "ratio",
        posts ? String.format("  %-30s %s", "client W/R/S +control !signaled", "server") : "");
  }

  void rows(String executors, Map<Entrant, Row> rows) {
    rows.forEach((entrant, row) -> row(executors, entrant, row, rows));
  }

  private void row(String executors, Entrant entrant, Row row, Map<Entrant, Row> rows) {
    final Figures figures = row.figures();
    final String line =
        String.format(
            Locale.ROOT,
            "  %-10s %-9s %,9d %11.2f %11.2f %,11.0f %7s",
            switch (entrant) {
              case ring -> ring;
              case grpc -> "grpc";
              case floor -> "bare " + ring;
            },
            entrant == Entrant.floor ? "none" : executors,
            figures.calls(),
            figures.p50Us(),
            figures.p99Us(),
            figures.perSecond(),
            entrant == Entrant.ring ? ratio(rows, Entrant.grpc, Entrant.ring) : "");
    out.println(
        posts && entrant != Entrant.grpc
            ? String.format(
                "%s  %-31s %s",
                line, row.client().perCall(figures.calls()), row.server().perCall(figures.calls()))
            : line.stripTrailing());
  }

  /** The legend of the letters, and the time that the ring adds to its floor. */
  void foot(Map<Entrant, Row> direct) {
    if (!posts) {
      return;
    }
    out.println();
    out.println(
        "  W/R/S: WRITEs, READs and SENDs that a side posted per call; +: what the transport");
    out.println("  posts by itself; !: completions asked for, but for READs");
    if (direct.containsKey(Entrant.floor) && direct.containsKey(Entrant.ring)) {
      out.printf(
          "  the ring takes %s times as long as bare %s%n",
          ratio(direct, Entrant.ring, Entrant.floor), ring);
    }
  }

  /** How often the second one's median fits into the first one's. */
  static String ratio(Map<Entrant, Row> rows, Entrant one, Entrant other) {
    return rows.containsKey(one) && rows.containsKey(other)
        ? String.format(
            Locale.ROOT,
            "%.1f",
            rows.get(one).figures().p50Us() / rows.get(other).figures().p50Us())
        : "-";
  }

  /** A median, for the line that scripts read. */
  static String median(Map<Entrant, Row> rows, Entrant entrant) {
    final Row row = rows.get(entrant);
    return row == null ? "-" : String.format(Locale.ROOT, "%.2f", row.figures().p50Us());
  }
}
