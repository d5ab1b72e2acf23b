package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.LogScale;
import dev.ringfetch.examples.load.Svg;
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

  private final List<PeerRow> rows;
  private final LogScale time;
  private final LogScale rate;
  private final Svg svg;
  private final int bottom;

  private PeerPlot(List<PeerRow> rows) {
    this.rows = rows;
    this.time = scale(row -> row.median(PeerPlot::p50), PeerPlot::p999OfRow, LABELS);
    this.rate = scale(PeerPlot::rateOfRow, PeerPlot::rateOfRow, LABELS + PANEL + GAP);
    this.bottom = TOP + rows.size() * ROW;
    this.svg = new Svg(WIDTH, bottom + BOTTOM);
  }

  private LogScale scale(
      ToDoubleFunction<PeerRow> least, ToDoubleFunction<PeerRow> most, int left) {
    return LogScale.of(
        rows.stream().mapToDouble(least).min().orElseThrow(),
        rows.stream().mapToDouble(most).max().orElseThrow(),
        left,
        PANEL);
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

  private String draw() {
    svg.axis(time, "p50 (dot), p99, p99.9 in microseconds", TOP, bottom);
    svg.axis(rate, "calls per second", TOP, bottom);
    for (int i = 0; i < rows.size(); i++) {
      draw(rows.get(i), TOP + i * ROW + ROW / 2);
    }
    return svg.toString();
  }

  private void draw(PeerRow row, int y) {
    final String colour = COLOURS.get(PEERS.indexOf(row.peer()));
    final double p50 = time.x(row.median(PeerPlot::p50));
    final double p99 = time.x(row.median(round -> round.figures().p99Us()));
    final double p999 = time.x(p999OfRow(row));
    svg.text(8, y + 4, new Entry(row.peer(), row.load()).toString());
    svg.line(p50, y, p999, y, colour, 1);
    svg.line(p99, y - 4, p99, y + 4, colour, 2);
    svg.line(p999, y - 4, p999, y + 4, colour, 1);
    svg.dot(p50, y, colour);
    final double end = rate.x(rateOfRow(row));
    svg.line(rate.left(), y, end, y, colour, ROW / 2);
    svg.text(end + 4, y + 4, String.format(Locale.ROOT, "%,.0f", rateOfRow(row)));
  }
}
