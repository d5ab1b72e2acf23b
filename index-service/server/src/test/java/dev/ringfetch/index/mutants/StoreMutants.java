package dev.ringfetch.index.mutants;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/** Applies the mutants of the list one by one and says which test found each. The main program. */
public final class StoreMutants {
  private static final List<String> SUITES =
      List.of("PartitionStoreTest", "ForgedMemoryTest", "SimulatedOwnerTest");

  private static final Pattern FIELD =
      Pattern.compile("(id|file|replace|with|suites|why):\\s?(.*)", Pattern.DOTALL);

  /** A suite that runs longer than this hangs, which counts as found. */
  private static final int SUITE_MINUTES = 4;

  private StoreMutants() {}

  /**
   * Runs: the folder of the index service, then ids; or, as a child, {@code --suite} and a name.
   */
  public static void main(String[] args) throws IOException, InterruptedException {
    if (args[0].equals("--suite")) {
      System.exit(runSuite(args[1]));
    }
    final Path module = Path.of(args[0]).normalize();
    final List<String> ids = List.of(args).subList(1, args.length);
    int survivors = 0;
    for (Map<String, String> mutant :
        parse(module.resolve("server/src/test/mutants/memory-list"))) {
      if (ids.isEmpty() || ids.contains(mutant.get("id"))) {
        final String finder = run(module, mutant);
        System.out.println(mutant.get("id") + ": " + (finder == null ? "SURVIVED" : finder));
        survivors += finder == null ? 1 : 0;
      }
    }
    System.exit(survivors == 0 ? 0 : 1);
  }

  /** The mutants of a list, each by its fields. */
  static List<Map<String, String>> parse(Path list) throws IOException {
    final List<Map<String, String>> mutants = new ArrayList<>();
    String field = "";
    for (String line : Files.readAllLines(list)) {
      final Matcher matcher = FIELD.matcher(line);
      if (matcher.matches()) {
        field = matcher.group(1);
        if (field.equals("id")) {
          mutants.add(new HashMap<>());
        }
        mutants.get(mutants.size() - 1).put(field, matcher.group(2));
      } else if (line.startsWith(" ")) {
        mutants.get(mutants.size() - 1).merge(field, line, (a, b) -> a + "\n" + b);
      }
    }
    return mutants;
  }

  /** The suite that found a mutant, or null. */
  private static String run(Path module, Map<String, String> mutant)
      throws IOException, InterruptedException {
    final Path folder = module.resolve("server/target/mutants").resolve(mutant.get("id"));
    final Path classes = Files.createDirectories(folder.resolve("classes"));
    compile(patch(module, mutant, folder), classes);
    final String suites = mutant.get("suites");
    for (String suite : suites == null ? SUITES : List.of(suites.strip().split(" "))) {
      final Process child =
          new ProcessBuilder(
                  ProcessHandle.current().info().command().orElse("java"),
                  "-ea",
                  "-XX:+UseSerialGC",
                  "-cp",
                  classes + ":" + System.getProperty("java.class.path"),
                  StoreMutants.class.getName(),
                  "--suite",
                  suite)
              .redirectErrorStream(true)
              .redirectOutput(folder.resolve(suite + ".log").toFile())
              .start();
      if (!child.waitFor(SUITE_MINUTES, TimeUnit.MINUTES)) {
        child.destroyForcibly();
        return suite + " (hangs)";
      }
      if (child.exitValue() != 0) {
        return suite;
      }
    }
    return null;
  }

  static Path patch(Path module, Map<String, String> mutant, Path folder) throws IOException {
    final String name = "src/main/java/dev/ringfetch/index/" + mutant.get("file") + ".java";
    final Path reader = module.resolve("reader").resolve(name);
    final Path file = Files.exists(reader) ? reader : module.resolve("server").resolve(name);
    final String patched = apply(mutant, Files.readString(file));
    return Files.writeString(folder.resolve(file.getFileName()), patched);
  }

  /**
   * The source with the mutant in it.
   *
   * @throws IllegalArgumentException if the text that it replaces is not there exactly once.
   */
  static String apply(Map<String, String> mutant, String source) {
    final StringBuilder pattern = new StringBuilder();
    final Matcher token = Pattern.compile("\\w+|[^\\w\\s]").matcher(mutant.get("replace"));
    while (token.find()) {
      pattern.append(pattern.length() == 0 ? "" : "\\s*").append(Pattern.quote(token.group()));
    }
    final Matcher place = Pattern.compile(pattern.toString()).matcher(source);
    if (!place.find()) {
      throw new IllegalArgumentException("text not found: id=" + mutant.get("id"));
    }
    final String patched =
        source.substring(0, place.start())
            + mutant.getOrDefault("with", "")
            + source.substring(place.end());
    if (place.find()) {
      throw new IllegalArgumentException("text found twice: id=" + mutant.get("id"));
    }
    return patched;
  }

  private static void compile(Path source, Path classes) throws IOException {
    final JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
      final List<String> options =
          List.of(
              "-proc:none",
              "-nowarn",
              "-d",
              classes.toString(),
              "-cp",
              System.getProperty("java.class.path"));
      if (!compiler
          .getTask(null, files, null, options, null, files.getJavaFileObjects(source))
          .call()) {
        throw new IllegalArgumentException("does not compile: source=" + source);
      }
    }
  }

  /** A name with a dot begins below dev.ringfetch, others are of the package of the store. */
  static String className(String suite) {
    return "dev.ringfetch." + (suite.contains(".") ? suite : "index.store." + suite);
  }

  private static int runSuite(String suite) {
    final SummaryGeneratingListener summary = new SummaryGeneratingListener();
    LauncherFactory.create()
        .execute(
            LauncherDiscoveryRequestBuilder.request()
                .selectors(DiscoverySelectors.selectClass(className(suite)))
                .build(),
            summary);
    summary.getSummary().printFailuresTo(new PrintWriter(System.out, true, UTF_8));
    if (summary.getSummary().getTestsFoundCount() == 0) {
      throw new IllegalArgumentException("no tests: suite=" + suite);
    }
    return summary.getSummary().getTotalFailureCount() == 0 ? 0 : 1;
  }
}
