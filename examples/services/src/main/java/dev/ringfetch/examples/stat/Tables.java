package dev.ringfetch.examples.stat;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Kind;
import dev.ringfetch.counters.Snapshot;
import dev.ringfetch.counters.Snapshot.Row;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/**
 * The counters of a process as tables, one for each kind with an instance or a counter that is not
 * zero.
 */
final class Tables {
  private static final String GAP = "  ";

  private Tables() {}

  static void print(Snapshot snapshot, PrintWriter out) {
    for (final Kind kind : Kind.values()) {
      final List<Row> rows = snapshot.rows().stream().filter(row -> row.kind() == kind).toList();
      if (rows.stream().anyMatch(row -> !row.isTotal() || isCounted(row))) {
        print(kind, rows, out);
      }
    }
    if (snapshot.unlisted() > 0) {
      out.println(GAP + "not listed, but in the totals: " + snapshot.unlisted());
    }
  }

  private static boolean isCounted(Row row) {
    return row.values().stream().anyMatch(value -> value != 0);
  }

  private static void print(Kind kind, List<Row> rows, PrintWriter out) {
    final List<List<String>> lines = new ArrayList<>();
    // A name of two words on two lines: so the columns are as narrow as the figures.
    lines.add(header(kind, 0));
    lines.add(header(kind, 1));
    for (final Row row : rows) {
      final List<String> cells = new ArrayList<>();
      cells.add(
          row.isTotal()
              ? printable(row.label())
              : "#" + row.serial() + " " + printable(row.label()));
      row.values().forEach(value -> cells.add(Long.toString(value)));
      cells.add(printable(row.detail()));
      lines.add(cells);
    }
    out.println();
    for (final List<String> line : lines) {
      final StringBuilder text = new StringBuilder(GAP);
      for (int column = 0; column < line.size(); column++) {
        final String cell = line.get(column);
        final String padding = " ".repeat(width(lines, column) - cell.length());
        final boolean isText = column == 0 || column == line.size() - 1;
        text.append(column == 0 ? "" : GAP).append(isText ? cell + padding : padding + cell);
      }
      out.println(text.toString().stripTrailing());
    }
  }

  private static List<String> header(Kind kind, int line) {
    final List<String> cells = new ArrayList<>();
    cells.add("");
    for (final Counter counter : kind.counters()) {
      final String[] words = counter.label().split("\\.", 2);
      cells.add(line < words.length ? words[line] : "");
    }
    cells.add(""); // of the detail
    return cells;
  }

  private static int width(List<List<String>> lines, int column) {
    return lines.stream().mapToInt(line -> line.get(column).length()).max().orElse(0);
  }

  /** Removes from a text of another process all characters that could harm a terminal. */
  static String printable(String text) {
    return text.replaceAll("[\\p{C}\\p{Zl}\\p{Zp}]", "?");
  }
}
