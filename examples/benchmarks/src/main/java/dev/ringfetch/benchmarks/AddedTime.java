package dev.ringfetch.benchmarks;

import com.google.errorprone.annotations.FormatMethod;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The time that peers add to the p50 of their floor, in microseconds. Over verbs it is also
 * compared with the time that the ring in shared memory adds to memory alone, and with other peers
 * of the same run.
 */
final class AddedTime {
  private static final List<VerbsPeer> BYTES = List.of(VerbsPeer.darpc);
  private static final List<VerbsPeer> STUBS = List.of(VerbsPeer.darpc, VerbsPeer.grpc);

  private final List<VerbsRow> rows;

  AddedTime(List<VerbsRow> rows) {
    this.rows = rows;
  }

  /** For people: a line for each peer whose floor was measured, too. */
  List<String> lines() {
    final List<String> lines = new ArrayList<>();
    for (final VerbsRow row : rows) {
      floor(row).ifPresent(floor -> lines.add(line(row, floor)));
    }
    return lines;
  }

  private String line(VerbsRow row, VerbsRow floor) {
    final StringBuilder line = new StringBuilder();
    line.append(
        format(
            "%s %s over %s: %.2f us above %s %s, %.1f times as long",
            row.peer().text(),
            row.peer().mode(),
            row.peer().link(),
            added(row, floor),
            floor.peer().text(),
            floor.peer().mode(),
            ratio(row, floor)));
    toShared(row)
        .ifPresent(ratio -> line.append(format("; %.2f times what it adds in shm", ratio)));
    for (final VerbsRow other : others(row)) {
      line.append(format("; %s takes %.1f times as long", other.peer().text(), ratio(other, row)));
    }
    return line.toString();
  }

  /** For scripts: fields to come behind those of a row, with a blank before each. */
  String fields(VerbsRow row) {
    final StringBuilder fields = new StringBuilder();
    floor(row)
        .ifPresent(
            floor ->
                fields.append(
                    format(
                        " added_us=%.2f floor_ratio=%.2f", added(row, floor), ratio(row, floor))));
    toShared(row).ifPresent(ratio -> fields.append(format(" added_to_shm=%.2f", ratio)));
    for (final VerbsRow other : others(row)) {
      fields.append(format(" %s_ratio=%.2f", other.peer(), ratio(other, row)));
    }
    return fields.toString();
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

  private static double ratio(VerbsRow row, VerbsRow to) {
    return row.p50().median() / to.p50().median();
  }

  /** The peers that the ring over verbs is an alternative to. */
  private List<VerbsRow> others(VerbsRow row) {
    return row.peer().floor().isPresent() && row.peer().link().equals("verbs")
        ? (row.peer().hasStub() ? STUBS : BYTES)
            .stream().flatMap(other -> find(other).stream()).toList()
        : List.of();
  }

  /** The time that a row adds, divided by that of the ring in shared memory with the same calls. */
  private Optional<Double> toShared(VerbsRow row) {
    if (row.peer().link().equals("shm")) {
      return Optional.empty();
    }
    return find(row.peer().hasStub() ? VerbsPeer.ring : VerbsPeer.bytes)
        .flatMap(
            ring ->
                floor(ring)
                    .flatMap(raw -> floor(row).map(floor -> added(row, floor) / added(ring, raw))));
  }

  @FormatMethod
  private static String format(String format, Object... arguments) {
    return String.format(Locale.ROOT, format, arguments);
  }
}
