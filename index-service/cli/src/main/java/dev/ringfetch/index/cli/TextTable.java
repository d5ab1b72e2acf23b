package dev.ringfetch.index.cli;

import java.util.ArrayList;
import java.util.List;

/**
 * Rows of text in aligned columns, separated by two blanks; the last column is as long as it is.
 * Callers with endless rows print the table whenever it is full.
 */
final class TextTable {
  private static final int WIDEST = 48; // a longer cell moves what follows it to the right
  private static final int ROWS = 100;
  private static final int CHARACTERS = 1 << 16;
  private static final String GAP = "  ";

  private final List<String[]> rows = new ArrayList<>();
  private final String alignment;
  private int characters; // of all rows

  /**
   * Creates it.
   *
   * @param alignment a character for each column: {@code l} for left, {@code r} for right.
   */
  TextTable(String alignment) {
    this.alignment = alignment;
  }

  TextTable row(String... cells) {
    rows.add(cells);
    for (final String cell : cells) {
      characters += cell.length();
    }
    return this;
  }

  /** Whether the rows, or their characters, have reached the limit of a table. */
  boolean isFull() {
    return rows.size() >= ROWS || characters >= CHARACTERS;
  }

  /**
   * Prints the rows, and forgets them.
   *
   * @param width at which lines are cut; 0 for no limit.
   */
  void print(Output out, int width) {
    final int[] widths = new int[alignment.length()];
    for (final String[] row : rows) {
      for (int i = 0; i < row.length; i++) {
        widths[i] = Math.max(widths[i], Math.min(WIDEST, length(row[i])));
      }
    }
    for (final String[] row : rows) {
      final StringBuilder line = new StringBuilder();
      for (int i = 0; i < row.length; i++) {
        final String padding = " ".repeat(Math.max(0, widths[i] - length(row[i])));
        final boolean right = alignment.charAt(i) == 'r';
        line.append(i == 0 ? "" : GAP).append(right ? padding : "").append(row[i]);
        line.append(right || i == row.length - 1 ? "" : padding);
      }
      out.line(width == 0 ? line.toString() : Printable.cut(line.toString(), width));
    }
    rows.clear();
    characters = 0;
  }

  private static int length(String text) {
    return text.codePointCount(0, text.length());
  }
}
