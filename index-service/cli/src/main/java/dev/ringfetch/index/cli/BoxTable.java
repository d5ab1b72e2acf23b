package dev.ringfetch.index.cli;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.client.IndexEntry;
import dev.ringfetch.index.client.Located;
import dev.ringfetch.index.client.Neighbor;

/** The output of entries with boxes, as a table or as lines of JSON. Used by one thread. */
final class BoxTable {
  private final TypeOptions types;
  private final int width;
  private final Output out;
  private TextTable table; // made with the first row

  /**
   * Creates it.
   *
   * @param width of the table; negative for JSON
   */
  BoxTable(TypeOptions types, int width, Output out) {
    this.types = types;
    this.width = width;
    this.out = out;
  }

  /** Adds an entry. */
  void add(IndexEntry<ByteString, Located<ByteString>> entry) {
    if (width < 0) {
      json(entry).end();
    } else {
      row("lll", key(entry), Coordinates.text(entry.value().box()), value(entry));
    }
  }

  /** Adds an entry with its distance. */
  void add(Neighbor<ByteString, ByteString> neighbor) {
    final IndexEntry<ByteString, Located<ByteString>> entry = neighbor.entry();
    if (width < 0) {
      json(entry).number("distance", neighbor.distance()).end();
    } else {
      row(
          "llrl",
          key(entry),
          Coordinates.text(entry.value().box()),
          String.format("%.3f", neighbor.distance()),
          value(entry));
    }
  }

  private Output.Json json(IndexEntry<ByteString, Located<ByteString>> entry) {
    return out.object()
        .data("key", types.keyType(), entry.key())
        .text("box", Coordinates.text(entry.value().box()))
        .data("value", types.valueType(), entry.value().value())
        .number("version", entry.version())
        .time("deadline", entry.deadline());
  }

  private String key(IndexEntry<ByteString, Located<ByteString>> entry) {
    return Printable.escape(types.keyType().show(entry.key()));
  }

  private String value(IndexEntry<ByteString, Located<ByteString>> entry) {
    return Printable.escape(types.valueType().show(entry.value().value()));
  }

  private void row(String alignment, String... cells) {
    if (table == null) {
      table = new TextTable(alignment);
    }
    table.row(cells);
    if (table.isFull()) {
      table.print(out, width);
    }
  }

  /** Prints what is left. */
  void end() {
    if (table != null) {
      table.print(out, width);
    }
  }
}
