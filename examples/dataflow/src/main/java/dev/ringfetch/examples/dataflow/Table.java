package dev.ringfetch.examples.dataflow;

import java.util.ArrayList;
import java.util.List;

/**
 * A data set, in columns.
 *
 * @param name of the data set.
 * @param rows how many values each column has.
 */
record Table(String name, int rows, List<Column> columns) {
  /**
   * Some rows that follow one another.
   *
   * @param from the first one.
   * @param to the one after the last.
   */
  record Range(int from, int to) {
    int rows() {
      return to - from;
    }
  }

  /** Divides the rows into batches of about so many bytes. */
  List<Range> batches(int bytes) {
    final List<Range> ranges = new ArrayList<>();
    int from = 0;
    long length = 0;
    for (int row = 0; row < rows; row++) {
      for (final Column column : columns) {
        length += column.length(row);
      }
      if (length >= bytes || row == rows - 1) {
        ranges.add(new Range(from, row + 1));
        from = row + 1;
        length = 0;
      }
    }
    return ranges;
  }

  List<Column.Kind> kinds() {
    return columns.stream().map(Column::kind).toList();
  }

  /** Computes the totals of the whole table from its values, without any batch. */
  Totals totals() {
    final Totals totals = new Totals(true);
    for (int row = 0; row < rows; row++) {
      for (final Column column : columns) {
        if (column.kind() == Column.Kind.TEXT) {
          totals.addText(column.text(row));
        } else {
          totals.addNumber(column.number(row));
        }
      }
    }
    totals.addRows(rows);
    return totals;
  }
}
