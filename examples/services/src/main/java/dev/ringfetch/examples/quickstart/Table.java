package dev.ringfetch.examples.quickstart;

import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.load.Side;
import java.io.PrintStream;
import java.util.Locale;
import java.util.Map;

/** What was measured, for people. */
final class Table {
  private final PrintStream out;
  private final String ring;

  /** Creates it; the ring's rows are named as given. */
  Table(PrintStream out, String ring) {
    this.out = out;
    this.ring = ring;
  }

  void head() {
    out.println();
    out.printf(
        Locale.ROOT,
        "  %-9s %-9s %9s %11s %11s %11s %7s%n",
        "transport",
        "executors",
        "calls",
        "p50 us",
        "p99 us",
        "calls/s",
        "ratio");
  }

  void rows(String executors, Map<Side, Figures> figures) {
    figures.forEach(
        (side, measured) ->
            out.printf(
                Locale.ROOT,
                "  %-9s %-9s %,9d %11.2f %11.2f %,11.0f %7s%n",
                side == Side.ring ? ring : "grpc",
                executors,
                measured.calls(),
                measured.p50Us(),
                measured.p99Us(),
                measured.perSecond(),
                side == Side.ring ? ratio(figures) : ""));
  }

  /** How often the ring's median fits into gRPC's. */
  static String ratio(Map<Side, Figures> figures) {
    final Figures ring = figures.get(Side.ring);
    return ring == null
        ? "-"
        : String.format(Locale.ROOT, "%.1f", figures.get(Side.grpc).p50Us() / ring.p50Us());
  }

  /** A transport's median, for the line that scripts read. */
  static String median(Map<Side, Figures> figures, Side side) {
    final Figures measured = figures.get(side);
    return measured == null ? "-" : String.format(Locale.ROOT, "%.2f", measured.p50Us());
  }
}
