package dev.ringfetch.mutants;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Mutants that change nothing which anybody could see, each with the argument: lines of id, change
 * and reason, with bars between.
 */
final class Equivalents {
  private Equivalents() {}

  /**
   * Reads them by id.
   *
   * @throws IllegalArgumentException when one is no mutant, or changes something else by now.
   */
  static Map<String, String> read(Path file, List<Mutant> mutants) throws IOException {
    final Map<String, Mutant> byId = new HashMap<>();
    mutants.forEach(mutant -> byId.put(mutant.id(), mutant));
    final Map<String, String> reasons = new HashMap<>();
    final List<String> unknown = new ArrayList<>();
    for (final String line : Files.readAllLines(file)) {
      if (line.isBlank() || line.startsWith("#")) {
        continue;
      }
      final String[] fields = line.split(" \\| ", 3);
      final Mutant mutant = byId.get(fields[0].strip());
      if (fields.length != 3 || mutant == null || !mutant.change().equals(fields[1].strip())) {
        unknown.add(line + (mutant == null ? "" : "; there is " + mutant));
        continue;
      }
      reasons.put(mutant.id(), fields[2].strip());
    }
    if (!unknown.isEmpty()) {
      throw new IllegalArgumentException(
          file + ": no such mutants:\n" + String.join("\n", unknown));
    }
    return reasons;
  }
}
