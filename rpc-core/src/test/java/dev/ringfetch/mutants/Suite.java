package dev.ringfetch.mutants;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A test class that is run on mutants.
 *
 * @param kind what finds the fault: {@code unit}, {@code simulator}, {@code stress}, {@code rules}
 *     or {@code process}. The last starts processes, takes long, and runs only for mutants that
 *     name it.
 * @param className of the test class.
 * @param subjects simple names of the classes that it can say something about; empty for all.
 */
record Suite(String kind, String className, List<String> subjects) {
  private static final String STRESS = "stress";
  private static final String RULES = "rules";
  private static final String PROCESS = "process";

  static final List<String> KINDS = List.of("unit", "simulator", STRESS, RULES, PROCESS);

  /** Reads suites, one a line: kind, class, subjects. They run in this order. */
  static List<Suite> read(Path file) throws IOException {
    final List<Suite> suites = new ArrayList<>();
    for (final String line : Files.readAllLines(file)) {
      if (line.isBlank() || line.startsWith("#")) {
        continue;
      }
      final String[] words = line.strip().split("\\s+", -1);
      if (words.length < 2 || !KINDS.contains(words[0])) {
        throw new IllegalArgumentException(file + ": not a suite: " + line);
      }
      suites.add(new Suite(words[0], words[1], List.of(words).subList(2, words.length)));
    }
    return suites;
  }

  String simpleName() {
    return className.substring(className.lastIndexOf('.') + 1);
  }

  /** True when it needs a JVM as it is: for its children, its compilers, or to read classes. */
  boolean needsJvm() {
    return kind.equals(PROCESS) || kind.equals(STRESS) || kind.equals(RULES);
  }

  /** True when the suite is to run on a mutant: because that names it, or names none. */
  boolean isFor(Mutant mutant) {
    return mutant.suites().isEmpty()
        ? !kind.equals(PROCESS) && (subjects.isEmpty() || subjects.contains(mutant.className()))
        : mutant.suites().contains(simpleName());
  }
}
