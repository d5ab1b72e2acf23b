package dev.ringfetch.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * What peers add to the p50 of their floor, in microseconds; over verbs also beside what the ring
 * in shared memory adds to memory alone, in the same run.
 */
final class AddedTime {
  private final List<VerbsRow> rows;

  AddedTime(List<VerbsRow> rows) {
    this.rows = rows;
  }

  /** For people: a line for each that has a floor which was measured, too. */
  List<String> lines() {
    final List<String> lines = new ArrayList<>();
    for (final VerbsRow row : rows) {
      floor(row)
          .ifPresent(
              floor ->
                  lines.add(
                      String.format(
                          Locale.ROOT,
                          "%s %s over %s: %.2f us above %s %s, %.1f times as long%s",
                          row.peer().text(),
                          row.peer().mode(),
                          row.peer().link(),
                          added(row, floor),
                          floor.peer().text(),
                          floor.peer().mode(),
                          row.p50().median() / floor.p50().median(),
                          toShared(row)
                              .map(
                                  ratio ->
                                      String.format(
                                          Locale.ROOT, "; %.2f times what it adds in shm", ratio))
                              .orElse(""))));
    }
    return lines;
  }

  /** For scripts: fields to come behind those of a row, with a blank before each. */
  String fields(VerbsRow row) {
    return floor(row)
            .map(
                floor ->
                    String.format(
                        Locale.ROOT,
                        " added_us=%.2f floor_ratio=%.2f",
                        added(row, floor),
                        row.p50().median() / floor.p50().median()))
            .orElse("")
        + toShared(row)
            .map(ratio -> String.format(Locale.ROOT, " added_to_shm=%.2f", ratio))
            .orElse("");
  }

  private Optional<VerbsRow> floor(VerbsRow row) {
    return row.peer().floor().flatMap(this::find);
  }

  private Optional<VerbsRow> find(VerbsPeer peer) {
    return rows.stream().filter(row -> row.peer() == peer).findFirst();
  }

  private static double added(VerbsRow row, VerbsRow floor) {
    return row.p50().median() - floor.p50().median();
  }

  /** What a row adds, divided by what the ring adds in shared memory. */
  private Optional<Double> toShared(VerbsRow row) {
    if (row.peer() == VerbsPeer.ring) {
      return Optional.empty();
    }
    return find(VerbsPeer.ring)
        .flatMap(
            ring ->
                floor(ring)
                    .flatMap(raw -> floor(row).map(floor -> added(row, floor) / added(ring, raw))));
  }
}
