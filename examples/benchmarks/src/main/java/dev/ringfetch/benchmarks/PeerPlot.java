package dev.ringfetch.benchmarks;

import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * Rows as a picture, in SVG: a line for each, from its p50 (a dot) over its p99 to its p99.9
 * (ticks) on the left, its calls per second on the right. Both scales are logarithmic, and all
 * figures are medians of the rounds.
 */
final class PeerPlot {
  private static final int ROW = 16;
  private static final int TOP = 48;
  private static final int BOTTOM = 16;
  private static final int LABELS = 330;
  private static final int PANEL = 420;
  private static final int GAP = 60;
  private static final int NUMBER = 80; // room for one behind a bar
  private static final int WIDTH = LABELS + PANEL + GAP + PANEL + NUMBER;

  // Colours of seven peers that red-green colour-blind readers can distinguish, too.
  private static final List<String> COLOURS =
      List.of("#000000", "#e69f00", "#56b4e9", "#009e73", "#8c7a00", "#0072b2", "#d55e00");

  private static final List<Peer> PEERS = List.of(Peer.values());

  private final StringBuilder svg = new StringBuilder();
  private final List<PeerRow> rows;
  private final LogScale time;
  private final LogScale rate;

  private PeerPlot(List<PeerRow> rows) {
    this.rows = rows;
    this.time = LogScale.of(rows, row -> row.median(PeerPlot::p50), PeerPlot::p999OfRow, LABELS);
    this.rate = LogScale.of(rows, PeerPlot::rateOfRow, PeerPlot::rateOfRow, LABELS + PANEL + GAP);
  }

  /** The whole file. There is at least one row. */
  static String of(List<PeerRow> rows) {
    return new PeerPlot(rows).draw();
  }

  private static double p50(PeerRound round) {
    return round.figures().p50Us();
  }

  private static double p999OfRow(PeerRow row) {
    return row.median(round -> round.figures().p999Us());
  }

  private static double rateOfRow(PeerRow row) {
    return row.median(round -> round.figures().perSecond());
  }

  /**
   * Where a figure is drawn.
   *
   * @param first power of ten at the left end.
   * @param last power of ten at the right end.
   * @param left of the left end.
   */
  private record LogScale(int first, int last, int left) {
    static LogScale of(
        List<PeerRow> rows,
        ToDoubleFunction<PeerRow> least,
        ToDoubleFunction<PeerRow> most,
        int left) {
      final double min = rows.stream().mapToDouble(least).min().orElseThrow();
      final double max = rows.stream().mapToDouble(most).max().orElseThrow();
      final int first = (int) Math.floor(Math.log10(min));
      return new LogScale(first, Math.max(first + 1, (int) Math.ceil(Math.log10(max))), left);
    }

    double x(double figure) {
      return left + PANEL * (Math.log10(figure) - first) / (last - first);
    }
  }

  private String draw() {
    final int height = TOP + rows.size() * ROW + BOTTOM;
    add(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\""
            + " font-family=\"sans-serif\" font-size=\"11\">",
        WIDTH, height);
    add("<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>");
    axis(time, "p50 (dot), p99, p99.9 in microseconds", height);
    axis(rate, "calls per second", height);
    for (int i = 0; i < rows.size(); i++) {
      draw(rows.get(i), TOP + i * ROW + ROW / 2);
    }
    add("</svg>");
    return svg.toString();
  }

  private void axis(LogScale scale, String title, int height) {
    text(scale.left, 14, title);
    for (int power = scale.first; power <= scale.last; power++) {
      final double figure = Math.pow(10, power);
      final double x = scale.x(figure);
      line(x, TOP - 6, x, height - BOTTOM, "#dddddd", 1);
      text(
          x - 8,
          TOP - 12,
          power < 0 ? Double.toString(figure) : String.format(Locale.ROOT, "%,.0f", figure));
    }
  }

  private void draw(PeerRow row, int y) {
    final String colour = COLOURS.get(PEERS.indexOf(row.peer()));
    final double p50 = time.x(row.median(PeerPlot::p50));
    final double p99 = time.x(row.median(round -> round.figures().p99Us()));
    final double p999 = time.x(p999OfRow(row));
    text(8, y + 4, new Entry(row.peer(), row.load()).toString());
    line(p50, y, p999, y, colour, 1);
    line(p99, y - 4, p99, y + 4, colour, 2);
    line(p999, y - 4, p999, y + 4, colour, 1);
    add("<circle cx=\"%.1f\" cy=\"%d\" r=\"3.5\" fill=\"%s\"/>", p50, y, colour);
    final double end = rate.x(rateOfRow(row));
    line(rate.left, y, end, y, colour, ROW / 2);
    text(end + 4, y + 4, String.format(Locale.ROOT, "%,.0f", rateOfRow(row)));
  }

  private void text(double x, double y, String text) {
    add("<text x=\"%.1f\" y=\"%.1f\">%s</text>", x, y, text);
  }

  private void line(double x1, double y1, double x2, double y2, String colour, int width) {
    add(
        "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"%d\"/>",
        x1, y1, x2, y2, colour, width);
  }

  private void add(String format, Object... figures) {
    svg.append(String.format(Locale.ROOT, format, figures)).append('\n');
  }
}
