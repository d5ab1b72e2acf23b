package dev.ringfetch.index.mutants;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The lists of mutants name what is in the sources: a change of either side shows at once. */
final class MutantListsTest {
  private static final Path LISTS = Path.of("src/test/mutants");
  private static final Path TESTS = Path.of("src/test/java");
  private static final Path READER_TESTS = Path.of("../reader/src/test/java");

  @Test
  void mutantsOfTheServerFitTheSources() throws IOException {
    final List<List<String>> suites =
        Files.readAllLines(LISTS.resolve("suites")).stream()
            .filter(line -> !line.isBlank() && !line.startsWith("#"))
            .map(line -> List.of(line.split(" ", -1)))
            .toList();
    final Set<String> names = new HashSet<>();
    for (final List<String> suite : suites) {
      final String name = suite.get(1);
      assertTrue(Files.exists(TESTS.resolve(name.replace('.', '/') + ".java")), name);
      names.add(name.substring(name.lastIndexOf('.') + 1));
    }
    for (final Map<String, String> mutant : read("list")) {
      final Path file = Path.of("src/main/java/dev/ringfetch", mutant.get("file") + ".java");
      StoreMutants.apply(mutant, Files.readString(file));
      for (final String suite : suites(mutant)) {
        assertTrue(names.contains(suite), () -> mutant.get("id") + " names " + suite);
      }
    }
  }

  @Test
  void mutantsOfTheMemoryFitTheSources(@TempDir Path folder) throws IOException {
    for (final Map<String, String> mutant : read("memory-list")) {
      StoreMutants.patch(Path.of(".."), mutant, folder);
      for (final String suite : suites(mutant)) {
        final String test = StoreMutants.className(suite).replace('.', '/') + ".java";
        assertTrue(
            Files.exists(TESTS.resolve(test)) || Files.exists(READER_TESTS.resolve(test)),
            () -> mutant.get("id") + " names " + suite);
      }
    }
  }

  private static List<Map<String, String>> read(String list) throws IOException {
    final List<Map<String, String>> mutants = StoreMutants.parse(LISTS.resolve(list));
    assertFalse(mutants.isEmpty());
    final long ids = mutants.stream().map(mutant -> mutant.get("id")).distinct().count();
    assertEquals(mutants.size(), ids, "an id twice");
    return mutants;
  }

  private static List<String> suites(Map<String, String> mutant) {
    final String suites = mutant.getOrDefault("suites", "").strip();
    return suites.isEmpty() ? List.of() : List.of(suites.split("[,\\s]+", -1));
  }
}
