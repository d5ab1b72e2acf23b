package dev.ringfetch.mutants;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * All mutants that a module's lists name: those written by hand come first, then the mechanical
 * ones of its sources.
 *
 * @param handwritten how many were written by hand.
 * @param equivalents the reasons, by id, of those that change nothing visible.
 * @param leftOut how many mechanical ones the list of exclusions leaves out.
 */
record Known(List<Mutant> mutants, int handwritten, Map<String, String> equivalents, int leftOut) {
  /**
   * Reads the lists of a folder.
   *
   * @throws IllegalArgumentException when a line of a list fits nothing in the sources.
   */
  static Known read(Path folder, Sources sources) throws IOException {
    final List<Mutant> mutants = new ArrayList<>(Handwritten.read(folder.resolve("list"), sources));
    final int handwritten = mutants.size();
    final Excluded excluded = Excluded.read(folder.resolve("excluded"));
    mutants.addAll(excluded.leaveOut(sources.mechanical(beginnings(folder.resolve("sources")))));
    checkIds(mutants);
    return new Known(
        mutants,
        handwritten,
        Equivalents.read(folder.resolve("equivalent"), mutants),
        excluded.leftOut());
  }

  /** The beginnings of the paths of what is broken mechanically. */
  private static List<String> beginnings(Path file) throws IOException {
    return Files.readAllLines(file).stream()
        .filter(line -> !line.isBlank() && !line.startsWith("#"))
        .toList();
  }

  private static void checkIds(List<Mutant> mutants) {
    final Set<String> ids = new HashSet<>();
    for (final Mutant mutant : mutants) {
      if (!ids.add(mutant.id())) {
        throw new IllegalArgumentException("an id twice: " + mutant.id());
      }
    }
  }
}
