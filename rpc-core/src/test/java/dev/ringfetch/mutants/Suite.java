package dev.ringfetch.mutants;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A test class that is run on mutants.
 *
 * @param kind what finds the fault: {@code unit}, {@code simulator}, {@code stress} or {@code
 *     process}. The last starts processes, takes long, and runs only for mutants that name it.
 * @param className of the test class.
 */
record Suite(String kind, String className) {
  static final String PROCESS = "process";

  private static final List<String> KINDS = List.of("unit", "simulator", "stress", PROCESS);

  /** Reads suites, one a line: kind and class. They run in this order. */
  static List<Suite> read(Path file) throws IOException {
    final List<Suite> suites = new ArrayList<>();
    for (final String line : Files.readAllLines(file)) {
      if (line.isBlank() || line.startsWith("#")) {
        continue;
      }
      final String[] words = line.strip().split("\\s+", -1);
      if (words.length != 2 || !KINDS.contains(words[0])) {
        throw new IllegalArgumentException(file + ": not a suite: " + line);
      }
      suites.add(new Suite(words[0], words[1]));
    }
    return suites;
  }

  String simpleName() {
    return className.substring(className.lastIndexOf('.') + 1);
  }

  boolean isProcess() {
    return kind.equals(PROCESS);
  }
}
