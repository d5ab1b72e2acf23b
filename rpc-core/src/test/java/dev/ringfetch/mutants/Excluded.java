package dev.ringfetch.mutants;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Code that is not broken mechanically, each with the reason: lines of a class or a method of it, a
 * bar, and the reason. Fences and orders are broken everywhere.
 */
final class Excluded {
  private static final Set<String> ALWAYS = Set.of("fence", "order");

  private final Path file;
  private final List<String> prefixes = new ArrayList<>();
  private int leftOut;

  private Excluded(Path file) {
    this.file = file;
  }

  /** Reads the list. */
  static Excluded read(Path file) throws IOException {
    final Excluded excluded = new Excluded(file);
    for (final String line : Files.readAllLines(file)) {
      if (!line.isBlank() && !line.startsWith("#")) {
        final int bar = line.indexOf(" | ");
        if (bar < 0) {
          throw new IllegalArgumentException(file + ": without a reason: " + line);
        }
        excluded.prefixes.add(line.substring(0, bar).strip() + ".");
      }
    }
    return excluded;
  }

  /**
   * The mutants that are left.
   *
   * @throws IllegalArgumentException when a line of the list is for none.
   */
  List<Mutant> leaveOut(List<Mutant> mutants) {
    final Set<String> unused = new HashSet<>(prefixes);
    final List<Mutant> left = new ArrayList<>();
    for (final Mutant mutant : mutants) {
      final String prefix =
          prefixes.stream().filter(mutant.id()::startsWith).findFirst().orElse(null);
      unused.remove(prefix);
      if (prefix == null || ALWAYS.contains(mutant.kind())) {
        left.add(mutant);
      }
    }
    if (!unused.isEmpty()) {
      throw new IllegalArgumentException(file + ": nothing is called " + unused);
    }
    leftOut = mutants.size() - left.size();
    return left;
  }

  /** How many were left out. */
  int leftOut() {
    return leftOut;
  }
}
