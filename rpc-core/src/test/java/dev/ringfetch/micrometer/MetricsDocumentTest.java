package dev.ringfetch.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.Counter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** docs/metrics.md lists every counter as it is, and none that is not. */
class MetricsDocumentTest {
  private static final int CELLS = 6;

  @Test
  void tablesAreTheCounters() throws IOException {
    final List<List<String>> documented = rows();
    final List<List<String>> counted = new ArrayList<>();
    for (final Counter counter : Counter.values()) {
      counted.add(
          List.of(
              "`" + counter.kind().label() + "." + counter.label() + "`",
              counter.unit(),
              counter.type().label(),
              "`" + counter.meter() + "`",
              "`" + counter.processMeter() + "`"));
    }
    assertEquals(
        String.join("\n", counted.stream().map(List::toString).toList()),
        String.join(
            "\n", documented.stream().map(row -> row.subList(0, CELLS - 1).toString()).toList()));
    for (final List<String> row : documented) {
      assertFalse(row.get(CELLS - 1).isBlank(), "meaning of " + row.get(0));
    }
  }

  private static List<List<String>> rows() throws IOException {
    final Path document =
        Path.of(System.getProperty("basedir", "")).resolve("../docs/metrics.md").normalize();
    final List<List<String>> rows = new ArrayList<>();
    for (final String line : Files.readAllLines(document)) {
      if (line.startsWith("| `")) {
        final List<String> cells = Arrays.stream(line.split("\\|", -1)).map(String::strip).toList();
        assertEquals(CELLS + 2, cells.size(), line);
        rows.add(cells.subList(1, CELLS + 1));
      }
    }
    assertTrue(!rows.isEmpty(), "no table in " + document);
    return rows;
  }
}
