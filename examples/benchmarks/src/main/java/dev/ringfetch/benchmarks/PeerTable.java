package dev.ringfetch.benchmarks;

import java.util.List;
import java.util.StringJoiner;

/** Rows as text: for people, then for scripts. */
final class PeerTable {
  private PeerTable() {}

  static String of(List<PeerRow> rows) {
    final StringJoiner text = new StringJoiner("\n", "\n", "\n");
    text.add(PeerRow.head());
    rows.forEach(row -> text.add(row.line()));
    text.add("");
    text.add("c/s: of client and server; (1): client and server are one process");
    text.add(
        Marks.line(
            rows.stream().mapToLong(PeerRow::marked).sum(),
            rows.stream().mapToLong(row -> row.rounds().size()).sum()));
    if (!rows.stream().allMatch(PeerRow::tellsAllocation)) {
      text.add("where bytes are missing, the JVM does not count what threads allocate");
    }
    text.add("");
    rows.forEach(row -> text.add(row.result()));
    return text.toString();
  }
}
