package dev.ringfetch.stress;

import dev.ringfetch.fabric.shm.SharedSlices;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import org.openjdk.jcstress.JCStress;
import org.openjdk.jcstress.Options;
import org.openjdk.jcstress.infra.Status;
import org.openjdk.jcstress.infra.collectors.DiskReadCollector;
import org.openjdk.jcstress.infra.collectors.InProcessCollector;
import org.openjdk.jcstress.infra.collectors.TestResult;
import org.openjdk.jcstress.infra.grading.ReportUtils;

/**
 * Runs the stress tests: {@code quick} or {@code full}, then any options of jcstress. Says at the
 * end what each test has seen, and fails if that is forbidden, or nothing at all.
 */
public final class Stress {
  private static final Map<String, String> QUICK =
      Map.of("-f", "1", "-iters", "3", "-time", "400", "-sc", "false", "-jvmArgs", "-Xshare:auto");
  private static final Map<String, String> FULL =
      Map.of("-f", "1", "-iters", "5", "-time", "1000", "-sc", "false");

  /** Few states at once: they stay in the cache, and {@link SharedSlices} has enough for them. */
  private static final Map<String, String> STATES =
      Map.of("-strideSize", "32", "-strideCount", "16");

  private Stress() {}

  /** Exits with 0 if nothing forbidden was seen and every test has seen something. */
  public static void main(String[] args) throws Exception {
    final String mode = args.length == 0 ? "" : args[0];
    if (!mode.equals("quick") && !mode.equals("full")) {
      System.err.println("usage: quick|full [options of jcstress, -h shows them]");
      System.exit(2);
    }
    final Options options = new Options(options(mode.equals("quick") ? QUICK : FULL, args));
    if (!options.parse()) {
      System.exit(2);
    }
    if (2L * options.getStrideSize() * options.getStrideCount() > SharedSlices.COUNT) {
      System.err.println("too many states at once: strideSize * strideCount");
      System.exit(2);
    }
    final JCStress stress = new JCStress(options);
    try {
      stress.run();
    } catch (AssertionError e) { // is how it tells of a failure, which is told below
    }
    System.exit(report(stress.getTests(), results(options)) ? 0 : 1);
  }

  private static String[] options(Map<String, String> preset, String[] args) {
    final List<String> own = List.of(args).subList(1, args.length);
    final Map<String, String> chosen = new TreeMap<>(preset);
    chosen.putAll(STATES);
    final List<String> all = new ArrayList<>(own);
    chosen.forEach(
        (option, value) -> {
          if (!own.contains(option)) {
            all.add(option);
            all.add(value);
          }
        });
    return all.toArray(String[]::new);
  }

  private static Map<String, TestResult> results(Options options) throws Exception {
    final InProcessCollector collector = new InProcessCollector();
    final DiskReadCollector reader = new DiskReadCollector(options.getResultFile(), collector);
    reader.dump();
    reader.close();
    final Map<String, TestResult> byName = new TreeMap<>();
    for (final TestResult result : ReportUtils.mergedByName(collector.getTestResults())) {
      byName.put(result.getName(), result);
    }
    return byName;
  }

  /** Prints a line a test and one for all. Returns false when a test has failed. */
  private static boolean report(SortedSet<String> tests, Map<String, TestResult> results) {
    int forbidden = 0;
    int broken = 0;
    for (final String test : tests) {
      final TestResult result = results.get(test);
      String said = "ok";
      if (result == null || result.status() != Status.NORMAL || result.getTotalCount() == 0) {
        broken++;
        said = result == null ? "DID NOT RUN" : result.status().name();
      } else if (!result.grading().isPassed) {
        forbidden++;
        said = "FORBIDDEN";
      }
      System.out.printf("%-13s %s %s%n", said, test, result == null ? "" : outcomes(result));
    }
    if (broken > 0 || tests.isEmpty()) {
      System.out.printf("stress: %d of %d tests did not run%n", broken, tests.size());
    }
    System.out.printf("stress: %d tests, %d forbidden%n", tests.size(), forbidden);
    return forbidden == 0 && broken == 0 && !tests.isEmpty();
  }

  private static String outcomes(TestResult result) {
    final StringBuilder text = new StringBuilder();
    for (final String state : result.getStateKeys()) {
      text.append(String.format(" (%s) %,d", state, result.getCount(state)));
    }
    return text.toString();
  }
}
