package dev.ringfetch.rdma.suite;

import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.discovery.ClassNameFilter;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TagFilter;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Runs the tests tagged "verbs", which need an RDMA device, and not "slow", or all tests of the
 * classes named as arguments. Prints a line for each test and at last the sums. The exit code is 0
 * if there were tests, all have passed, and those of the list were among them.
 */
final class VerbsSuite {
  private static final String TAG = "verbs";

  /** Those that take minutes run by themselves, when they are named. */
  private static final String LEFT_OUT = "slow";

  /** The class path has the fabric's contract too, among tests that lack what they need here. */
  private static final String PACKAGE = "dev.ringfetch.rdma";

  private VerbsSuite() {}

  /** Takes "--pinned LIST" or not, then names of classes, or nothing for all that are tagged. */
  public static void main(String[] args) throws IOException {
    final List<String> classes = new ArrayList<>(List.of(args));
    PinnedTests pinned = null;
    if (!classes.isEmpty() && "--pinned".equals(classes.get(0))) {
      pinned = PinnedTests.of(classes.get(1));
      classes.subList(0, 2).clear();
    }
    // Halt, as a test that failed may have left threads; nothing is lost, as each line is flushed.
    Runtime.getRuntime().halt(run(classes, pinned, System.out) ? 0 : 1);
  }

  private static boolean run(List<String> classes, PinnedTests pinned, PrintStream out)
      throws IOException {
    final TestReport report = new TestReport(out, pinned != null);
    LauncherFactory.create().execute(request(classes), report);
    if (pinned != null && !pinned.check(report.executed(), report.hasPassed(), out)) {
      report.incomplete();
    }
    return report.sum();
  }

  private static LauncherDiscoveryRequest request(List<String> classes) {
    final LauncherDiscoveryRequestBuilder request =
        LauncherDiscoveryRequestBuilder.request()
            .configurationParameter("junit.jupiter.execution.timeout.default", "2 m")
            .configurationParameter(
                "junit.jupiter.testclass.order.default", FabricFirst.class.getName());
    if (classes.isEmpty()) {
      return request
          .selectors(DiscoverySelectors.selectPackage(PACKAGE))
          .filters(
              ClassNameFilter.includeClassNamePatterns(".*"),
              TagFilter.includeTags(TAG),
              TagFilter.excludeTags(LEFT_OUT))
          .build();
    }
    final List<DiscoverySelector> selectors = new ArrayList<>();
    for (final String name : classes) {
      selectors.add(DiscoverySelectors.selectClass(name));
    }
    return request.selectors(selectors).build();
  }
}
