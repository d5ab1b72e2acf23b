package dev.ringfetch.examples.chain;

import dev.ringfetch.examples.load.LogScale;
import dev.ringfetch.examples.load.Svg;
import java.util.List;
import java.util.Locale;

/**
 * Rows as a picture, in SVG: on the left a line for each from its p50 (a dot) to its p99 (a tick),
 * on a logarithmic scale; on the right a bar of the processor time of each process.
 */
final class Plot {
  private static final int ROW = 22;
  private static final int BAR = 12;
  private static final int TOP = 48;
  private static final int BOTTOM = 40;
  private static final int LABELS = 120;
  private static final int PANEL = 320;
  private static final int GAP = 60;
  private static final int NUMBER = 80; // room for one behind a bar
  private static final int BARS = LABELS + PANEL + GAP;
  private static final int WIDTH = BARS + PANEL + NUMBER;
  private static final int LEGEND = 70; // room for a name

  // Colours of the processes that red-green colour-blind readers can distinguish, too.
  private static final List<String> COLOURS =
      List.of("#999999", "#e69f00", "#56b4e9", "#009e73", "#0072b2");

  private static final List<Part> PARTS = List.of(Part.values());

  private Plot() {}

  /** The whole file. At least one row has calls. */
  static String of(List<Row> rows) {
    final int bottom = TOP + rows.size() * ROW;
    final Svg svg = new Svg(WIDTH, bottom + BOTTOM);
    final List<Row> called = rows.stream().filter(row -> row.rate() > 0).toList();
    final LogScale time =
        LogScale.of(
            called.stream().mapToDouble(Row::p50).min().orElseThrow(),
            called.stream().mapToDouble(Row::p99).max().orElseThrow(),
            LABELS,
            PANEL);
    svg.axis(time, "p50 (dot), p99 in microseconds", TOP, bottom);
    svg.text(BARS, 14, "processor time of all processes, ms a second");
    final double most = rows.stream().mapToDouble(Row::used).max().orElseThrow();
    for (int i = 0; i < rows.size(); i++) {
      final int y = TOP + i * ROW + ROW / 2;
      final Row row = rows.get(i);
      svg.text(8, y + 4, row.side() + ", " + row.percent() + " % of load");
      if (row.rate() > 0) {
        latencies(svg, row, time, y);
      }
      bar(svg, row, PANEL / most, y);
    }
    for (final Part part : PARTS) {
      final int x = BARS + PARTS.indexOf(part) * LEGEND;
      svg.line(x, bottom + ROW, x + BAR, bottom + ROW, colour(part), BAR);
      svg.text(x + BAR + 4, bottom + ROW + 4, part.name());
    }
    return svg.toString();
  }

  private static String colour(Part part) {
    return COLOURS.get(PARTS.indexOf(part));
  }

  private static void latencies(Svg svg, Row row, LogScale time, int y) {
    final double p99 = time.x(row.p99());
    svg.line(time.x(row.p50()), y, p99, y, "#000000", 1);
    svg.line(p99, y - 4, p99, y + 4, "#000000", 2);
    svg.dot(time.x(row.p50()), y, "#000000");
  }

  private static void bar(Svg svg, Row row, double scale, int y) {
    double x = BARS;
    for (final Part part : PARTS) {
      final double end = x + row.used(part) * scale;
      svg.line(x, y, end, y, colour(part), BAR);
      x = end;
    }
    svg.text(x + 4, y + 4, String.format(Locale.ROOT, "%,.0f", row.used()));
  }
}
