package dev.ringfetch.stress;

import dev.ringfetch.fabric.shm.SharedSlices;
import dev.ringfetch.session.FreeListModel;
import dev.ringfetch.session.OperationsModel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.openjdk.jcstress.JCStress;
import org.openjdk.jcstress.Options;
import org.openjdk.jcstress.infra.Status;
import org.openjdk.jcstress.infra.collectors.DiskReadCollector;
import org.openjdk.jcstress.infra.collectors.InProcessCollector;
import org.openjdk.jcstress.infra.collectors.TestResult;
import org.openjdk.jcstress.infra.grading.ReportUtils;

/**
 * Runs the stress tests, then the models: {@code quick} or {@code full}, and any options of
 * jcstress. Says at the end what each test has seen, and fails if that is forbidden, or nothing at
 * all.
 */
public final class Stress {
  private static final Map<String, String> QUICK =
      Map.of("-f", "1", "-iters", "3", "-time", "400", "-sc", "false", "-jvmArgs", "-Xshare:auto");
  private static final Map<String, String> FULL =
      Map.of("-f", "1", "-iters", "5", "-time", "1000", "-sc", "false");

  /** Few states at once: they stay in the cache, and {@link SharedSlices} has enough for them. */
  private static final Map<String, String> STATES =
      Map.of("-strideSize", "32", "-strideCount", "16");

  private static final Map<String, Runnable> MODELS =
      Map.of(
          FreeListModel.class.getName(), FreeListModel::check,
          OperationsModel.class.getName(), OperationsModel::check);

  private static final String OK = "ok";
  private static final String DID_NOT_RUN = "DID NOT RUN";
  private static final String FORBIDDEN = "FORBIDDEN";

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
    final Map<String, String> said = new TreeMap<>();
    final Map<String, TestResult> results = results(options);
    for (final String test : stress.getTests()) {
      said.put(test, verdict(results.get(test)));
    }
    MODELS.forEach(
        (name, model) -> {
          if (Pattern.compile(options.getTestFilter()).matcher(name).find()) {
            said.put(name, check(model));
          }
        });
    System.exit(report(said) ? 0 : 1);
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

  private static String check(Runnable model) {
    try {
      model.run();
      return OK;
    } catch (AssertionError e) { // with what Lincheck has found
      e.printStackTrace();
      return FORBIDDEN;
    } catch (RuntimeException e) { // Lincheck's own trouble
      e.printStackTrace();
      return DID_NOT_RUN;
    }
  }

  private static String verdict(TestResult result) {
    if (result == null || result.getTotalCount() == 0) {
      return DID_NOT_RUN;
    }
    final StringBuilder text = new StringBuilder();
    if (result.status() != Status.NORMAL) {
      text.append(result.status());
    } else {
      text.append(result.grading().isPassed ? OK : FORBIDDEN);
    }
    for (final String state : result.getStateKeys()) {
      text.append(String.format(" (%s) %,d", state, result.getCount(state)));
    }
    return text.toString();
  }

  /** Prints a line a test and one for all. Returns false when a test has failed. */
  private static boolean report(Map<String, String> said) {
    said.forEach((test, verdict) -> System.out.println(test + ": " + verdict));
    final long passed = said.values().stream().filter(verdict -> verdict.startsWith(OK)).count();
    final long forbidden =
        said.values().stream().filter(verdict -> verdict.startsWith(FORBIDDEN)).count();
    if (passed + forbidden < said.size()) {
      System.out.printf("stress: %d tests did not run%n", said.size() - passed - forbidden);
    }
    System.out.printf("stress: %d tests, %d forbidden%n", said.size(), forbidden);
    return passed == said.size() && !said.isEmpty();
  }
}
