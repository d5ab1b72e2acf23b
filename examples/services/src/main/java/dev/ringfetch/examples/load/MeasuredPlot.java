package dev.ringfetch.examples.load;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The pictures of the README, drawn from tables in docs/measurements: a line for each side from one
 * figure (a dot) to a higher one (a tick), on a logarithmic scale.
 */
public final class MeasuredPlot {
  private static final int ROW = 22;
  private static final int TOP = 48;
  private static final int BOTTOM = 12;
  private static final int LABELS = 150;
  private static final int PANEL = 420;
  private static final int NUMBERS = 110; // room for two behind a line
  private static final int WIDTH = LABELS + PANEL + NUMBERS;

  /** One side with its figures as the table has them. */
  private record Row(String side, String dot, String tick) {
    private static double figure(String text) {
      return Double.parseDouble(text.replace(",", ""));
    }

    double least() {
      return figure(dot);
    }

    double most() {
      return figure(tick);
    }
  }

  private MeasuredPlot() {}

  /** Writes the pictures into the directory docs, the only argument. */
  public static void main(String[] args) throws IOException {
    final Path docs = Path.of(args[0]);
    Files.writeString(docs.resolve("latency.svg"), latency(docs));
    Files.writeString(docs.resolve("fail-over.svg"), failOver(docs));
  }

  /** Draws the latency of Gets of an index beside other stores. */
  static String latency(Path docs) throws IOException {
    final List<List<String>> table =
        table(docs.resolve("measurements/2026-11-26-index.md"), "Get by call, p50 us");
    final List<String> sides = table.get(0);
    final List<String> p50 = table.get(1);
    final List<String> p99 = table.get(2);
    final Set<String> others = Set.of("echo over the ring", "goal");
    final List<Row> rows = new ArrayList<>();
    for (int i = 1; i < sides.size(); i++) {
      if (!others.contains(sides.get(i))) {
        rows.add(new Row(sides.get(i), p50.get(i), p99.get(i)));
      }
    }
    return draw("Get of 32 bytes, one at a time: p50 (dot), p99 in microseconds", rows);
  }

  /** Draws the time in which clusters of three have a leader again. */
  static String failOver(Path docs) throws IOException {
    final List<List<String>> table =
        table(docs.resolve("measurements/2026-11-27-index.md"), "fail-over, ms: median, worst");
    final List<String> sides = table.get(0);
    final List<String> times = table.get(1);
    final List<Row> rows = new ArrayList<>();
    for (int i = 1; i < sides.size(); i++) {
      if (!times.get(i).isEmpty()) {
        final String[] pair = times.get(i).split(", ", 2);
        final String side = sides.get(i).replace("`", "");
        rows.add(new Row(side.replace("three", "Ringfetch"), pair[0], pair[1]));
      }
    }
    return draw("a leader is killed, until writes go on: median (dot), worst in ms", rows);
  }

  /** Returns the header of a table, the row that begins so, and the rows behind it. */
  private static List<List<String>> table(Path page, String begin) throws IOException {
    final List<String> lines = Files.readAllLines(page);
    int row = 0;
    while (!lines.get(row).startsWith("| " + begin + " |")) {
      row++;
    }
    int header = row;
    while (lines.get(header - 1).startsWith("|")) {
      header--;
    }
    return Stream.concat(
            Stream.of(lines.get(header)),
            lines.subList(row, lines.size()).stream().takeWhile(line -> line.startsWith("|")))
        .map(MeasuredPlot::cells)
        .toList();
  }

  private static List<String> cells(String line) {
    return Stream.of(line.substring(1, line.lastIndexOf('|')).split("\\|", -1))
        .map(String::strip)
        .toList();
  }

  private static String draw(String title, List<Row> rows) {
    final int bottom = TOP + rows.size() * ROW;
    final Svg svg = new Svg(WIDTH, bottom + BOTTOM);
    final LogScale scale =
        LogScale.of(
            rows.stream().mapToDouble(Row::least).min().orElseThrow(),
            rows.stream().mapToDouble(Row::most).max().orElseThrow(),
            LABELS,
            PANEL);
    svg.axis(scale, title, TOP, bottom);
    for (int i = 0; i < rows.size(); i++) {
      final Row row = rows.get(i);
      final int y = TOP + i * ROW + ROW / 2;
      final double tick = scale.x(row.most());
      svg.text(8, y + 4, row.side());
      svg.line(scale.x(row.least()), y, tick, y, "#0072b2", 2);
      svg.line(tick, y - 4, tick, y + 4, "#0072b2", 2);
      svg.dot(scale.x(row.least()), y, "#0072b2");
      svg.text(LABELS + PANEL + 12, y + 4, row.dot() + " to " + row.tick());
    }
    return svg.toString();
  }
}
