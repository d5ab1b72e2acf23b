package dev.ringfetch.rdma.suite;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SortedSet;

/**
 * The names of tests that a run has to execute, in a file that is checked in: a test that is not
 * found any more, by whatever mishap, fails no run by itself. What a run that passes has executed
 * is written beside the build's output, from where it can replace the list.
 *
 * @param list names of tests, one a line, sorted.
 * @param written where the names of those go that were executed.
 */
record PinnedTests(Path list, Path written) {
  private static final Path LISTS = Path.of("rpc-rdma", "soft-roce", "executed");

  /** What is written here leaves the virtual machine. */
  private static final Path OUTPUT = Path.of("rpc-rdma", "target", "soft-roce", "executed");

  /** The list of a name, as seen from the project's directory. */
  static PinnedTests of(String name) {
    return new PinnedTests(LISTS.resolve(name), OUTPUT.resolve(name));
  }

  /**
   * Compares, and prints the difference. Returns false if a test is missing; one that is not on the
   * list yet is no failure.
   *
   * @param passed whether all tests did: then what was executed is written.
   */
  boolean check(SortedSet<String> executed, boolean passed, PrintStream out) throws IOException {
    if (passed) {
      Files.createDirectories(written.getParent());
      Files.write(written, executed);
    }
    if (!Files.exists(list)) {
      out.println("there is no list " + list);
      return false;
    }
    List<String> pinned = Files.readAllLines(list);
    List<String> missing = pinned.stream().filter(name -> !executed.contains(name)).toList();
    missing.forEach(name -> out.println("not executed: " + name));
    executed.stream()
        .filter(name -> !pinned.contains(name))
        .forEach(name -> out.println("not on the list: " + name));
    return missing.isEmpty();
  }
}
