package dev.ringfetch.mutants;

import dev.ringfetch.mutants.Verdict.Outcome;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Runs suites on mutants: on the unbroken code first, which must pass and says how long a suite may
 * take; then on the mutant, until one fails.
 */
final class Bench implements AutoCloseable {
  private static final long SLACK_NS = TimeUnit.SECONDS.toNanos(3);
  private static final int SLOWER = 5;
  private static final int RUNS_OF_A_FORK = 150;

  /** What runs for a second is compiled quickly rather than well. */
  private static final List<String> QUICK = List.of("-XX:TieredStopAtLevel=1");

  private final Path output;
  private final Path classes;
  private final Path tests;
  private final Sources sources;
  private final List<Suite> suites;
  private final Set<String> kinds;
  private final Map<Suite, Long> usual = new HashMap<>();
  private final Path killersFile;
  private final Properties killers = new Properties();

  private Fork fork;
  private int runs;

  /**
   * What became of a mutant.
   *
   * @param killer the suite that found it, or null.
   * @param text for people.
   */
  record Result(Suite killer, String text) {}

  /**
   * Creates the bench.
   *
   * @param kinds of suites that are run; empty for all.
   */
  Bench(Path module, Sources sources, List<Suite> suites, Set<String> kinds) throws IOException {
    this.classes = module.resolve("target/classes");
    this.tests = module.resolve("target/test-classes");
    this.output = module.resolve("target/mutants");
    this.sources = sources;
    this.suites = suites;
    this.kinds = kinds;
    this.killersFile = output.resolve("killers");
    Files.createDirectories(output);
    Files.deleteIfExists(output.resolve("log"));
    if (Files.exists(killersFile)) {
      try (var in = Files.newBufferedReader(killersFile)) {
        killers.load(in);
      }
    }
  }

  /** Runs suites on a mutant until one fails. */
  Result run(Mutant mutant) throws IOException {
    long spentNs = 0;
    final Path folder = output.resolve("classes").resolve(mutant.id());
    delete(folder);
    sources.compile(mutant, folder);
    try {
      for (final Suite suite : inOrder(mutant)) {
        final long usualNs = usual(suite);
        final long beginNs = System.nanoTime();
        final Verdict verdict = run(suite, folder, SLACK_NS + SLOWER * usualNs);
        spentNs += System.nanoTime() - beginNs;
        if (verdict.outcome() != Outcome.PASSED) {
          killers.setProperty(mutant.id(), suite.className());
          return new Result(
              suite,
              describe(suite, verdict) + " in " + TimeUnit.NANOSECONDS.toSeconds(spentNs) + " s");
        }
      }
    } finally {
      delete(folder);
    }
    return new Result(null, "SURVIVED");
  }

  private static String describe(Suite suite, Verdict verdict) {
    final String test = suite.simpleName() + "#" + verdict.test();
    return switch (verdict.outcome()) {
      case FAILED -> "killed by " + suite.kind() + " " + test + " (" + verdict.message() + ")";
      case TIMED_OUT ->
          "timed out in " + suite.kind() + " " + test + " (" + verdict.message() + ")";
      case DIED -> "killed by " + suite.kind() + " " + test + ", which ended its JVM";
      default -> throw new IllegalStateException(suite.className() + ": " + verdict);
    };
  }

  /** What killed the mutant the last time first, then the tests of its class, then the others. */
  private List<Suite> inOrder(Mutant mutant) {
    final List<Suite> chosen = new ArrayList<>();
    for (final Suite suite : suites) {
      if (suite.isFor(mutant) && (kinds.isEmpty() || kinds.contains(suite.kind()))) {
        chosen.add(suite);
      }
    }
    final String killer = killers.getProperty(mutant.id(), "");
    chosen.sort(
        Comparator.comparing((Suite suite) -> !suite.className().equals(killer))
            .thenComparing(suite -> !suite.simpleName().startsWith(mutant.className())));
    return chosen;
  }

  /** Processor time of a suite on the unbroken code. */
  private long usual(Suite suite) throws IOException {
    final Long known = usual.get(suite);
    if (known != null) {
      return known;
    }
    final Verdict verdict = run(suite, null, Long.MAX_VALUE);
    if (verdict.outcome() != Outcome.PASSED) {
      throw new IllegalStateException("on the unbroken code: " + suite + ": " + verdict);
    }
    usual.put(suite, verdict.cpuNs());
    return verdict.cpuNs();
  }

  private Verdict run(Suite suite, Path mutated, long limitNs) throws IOException {
    final String classPath = System.getProperty("java.class.path");
    if (suite.needsJvm()) { // which meets the mutant on its class path, as its children do
      final String path =
          mutated == null ? classPath : classPath.replace(classes.toString(), whole(mutated));
      try (Fork own = new Fork(List.of(), path, output.resolve("log"))) {
        return own.run(suite, List.of(), limitNs);
      }
    }
    if (fork == null || fork.isSpent() || runs++ % RUNS_OF_A_FORK == 0) {
      close();
      fork = new Fork(QUICK, classPath, output.resolve("log"));
    }
    return fork.run(
        suite,
        mutated == null ? List.of(classes, tests) : List.of(mutated, classes, tests),
        limitNs);
  }

  /** All classes, the mutant in its place: a reader of class files must not find two of a name. */
  private String whole(Path mutated) throws IOException {
    final Path whole = output.resolve("whole");
    delete(whole);
    copy(classes, whole);
    copy(mutated, whole);
    return whole.toString();
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (final Path file : (Iterable<Path>) files::iterator) {
        final Path copy = to.resolve(from.relativize(file).toString());
        if (Files.isDirectory(file)) {
          Files.createDirectories(copy);
        } else {
          Files.copy(file, copy, StandardCopyOption.REPLACE_EXISTING);
        }
      }
    }
  }

  private static void delete(Path folder) throws IOException {
    if (Files.exists(folder)) {
      try (Stream<Path> files = Files.walk(folder)) {
        files.sorted(Comparator.reverseOrder()).forEach(Bench::deleteOne);
      }
    }
  }

  private static void deleteOne(Path file) {
    try {
      Files.delete(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() throws IOException {
    if (fork != null) {
      fork.close();
      fork = null;
    }
    try (var out = Files.newBufferedWriter(killersFile)) {
      killers.store(out, "what killed a mutant the last time");
    }
  }
}
