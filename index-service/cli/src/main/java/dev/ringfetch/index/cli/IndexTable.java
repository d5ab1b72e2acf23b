package dev.ringfetch.index.cli;

import dev.ringfetch.index.v1.IndexDescription;
import java.util.List;
import java.util.Locale;

/** Descriptions of indexes, as tables and as JSON. */
final class IndexTable {
  private IndexTable() {}

  /** The kind in a word. */
  static String kind(IndexDescription index) {
    return index.getKind().name().toLowerCase(Locale.ROOT);
  }

  /** The durability in a word. */
  static String durability(IndexDescription index) {
    return index.getDurability().name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** The number of entries; a dash if no leader has reported it. */
  static String entries(IndexDescription index) {
    return index.getLedElsewhere() ? "-" : Printable.number(index.getEntries());
  }

  /** The memory of the server, as any description of an index has it. */
  static String memory(IndexDescription any) {
    return Printable.bytes(any.getMemoryUsed()) + " of " + Printable.bytes(any.getMemoryLimit());
  }

  /** Prints the indexes as a table. */
  static void print(List<IndexDescription> indexes, Output out, int width) {
    final TextTable table = new TextTable("llrr").row("INDEX", "KIND", "ENTRIES", "PARTITIONS");
    for (final IndexDescription index : indexes) {
      table.row(
          Printable.escape(index.getName()),
          kind(index),
          entries(index),
          Printable.number(index.getPartitions()));
    }
    table.print(out, width);
  }

  /** Begins a line of JSON about an index; the caller ends it. */
  static Output.Json json(IndexDescription index, Output out) {
    final Output.Json line =
        out.object()
            .text("index", index.getName())
            .text("kind", kind(index))
            .text("durability", durability(index));
    if (!index.getLedElsewhere()) {
      line.number("entries", index.getEntries());
    }
    return line.number("partitions", index.getPartitions())
        .text("incarnation", Long.toHexString(index.getIncarnation()))
        .number("memory_used", index.getMemoryUsed())
        .number("memory_limit", index.getMemoryLimit());
  }
}
