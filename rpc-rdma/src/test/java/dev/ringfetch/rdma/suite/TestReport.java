package dev.ringfetch.rdma.suite;

import java.io.PrintStream;
import java.util.HashMap;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestSource;
import org.junit.platform.engine.UniqueId;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;

/**
 * A listener that prints and counts the outcomes of tests. A skipped test counts as failed: to run
 * this suite is to claim that the device is there. One that leaves itself out counts as failed,
 * too, unless a list says which tests have to be executed.
 */
final class TestReport implements TestExecutionListener {
  private final PrintStream out;
  private final boolean listed;
  private final Map<UniqueId, Long> beginsNs = new HashMap<>();

  private final SortedSet<String> executed = new TreeSet<>();

  private int passed;
  private int failed;

  TestReport(PrintStream out, boolean listed) {
    this.out = out;
    this.listed = listed;
  }

  @Override
  public void executionStarted(TestIdentifier test) {
    beginsNs.put(test.getUniqueIdObject(), System.nanoTime());
  }

  @Override
  public void executionSkipped(TestIdentifier test, String reason) {
    failed++;
    print("SKIPPED", test, ": " + reason);
  }

  @Override
  public void executionFinished(TestIdentifier test, TestExecutionResult result) {
    final Long beginNs = beginsNs.remove(test.getUniqueIdObject());
    final boolean successful = result.getStatus() == TestExecutionResult.Status.SUCCESSFUL;
    // What goes wrong before or after a class's tests is reported for the class.
    if (successful && !test.isTest()) {
      return;
    }
    if (listed && test.isTest() && result.getStatus() == TestExecutionResult.Status.ABORTED) {
      print(
          "left out",
          test,
          result.getThrowable().map(reason -> ": " + reason.getMessage()).orElse(""));
      return;
    }
    if (test.isTest()) {
      executed.add(isDynamic(test) ? name(test) : method(test));
    }
    final String took =
        beginNs == null ? "" : " (" + (System.nanoTime() - beginNs) / 1_000_000 + " ms)";
    if (successful) {
      passed++;
      print("passed", test, took);
    } else {
      failed++;
      print(result.getStatus().name(), test, took);
      result.getThrowable().ifPresent(cause -> cause.printStackTrace(out));
    }
  }

  /**
   * Names of the tests that were executed and not left out, with whatever outcome; parameters are
   * not told.
   */
  SortedSet<String> executed() {
    return executed;
  }

  /** The list of tests that have to be executed was not: counts as a failure. */
  void incomplete() {
    failed++;
  }

  boolean hasPassed() {
    return passed > 0 && failed == 0;
  }

  /** Prints the sums as the last line; returns whether there were tests and all have passed. */
  boolean sum() {
    if (passed + failed == 0) {
      out.println("no test was found, which counts as a failure");
      failed = 1;
    }
    out.println(passed + " passed, " + failed + " failed");
    out.flush();
    return failed == 0;
  }

  private void print(String outcome, TestIdentifier test, String more) {
    out.println(outcome + " " + name(test) + more);
    out.flush();
  }

  /** Of a nested class that is inherited, the heir and not the one that declares it. */
  private static String classes(TestIdentifier test) {
    return test.getUniqueIdObject().getSegments().stream()
        .filter(segment -> segment.getType().endsWith("class"))
        .map(UniqueId.Segment::getValue)
        .collect(Collectors.joining("$"));
  }

  /** Class, method and, of a test with parameters, which one. */
  private static String name(TestIdentifier test) {
    final String shown = test.getDisplayName();
    final TestSource source = test.getSource().orElse(null);
    if (source instanceof MethodSource method) {
      final String name = method(test);
      return shown.equals(method.getMethodName() + "()") ? name : name + " " + shown;
    }
    return source instanceof ClassSource type ? type.getClassName() : shown;
  }

  /** Made by a method, under a name of its own. */
  private static boolean isDynamic(TestIdentifier test) {
    return "dynamic-test".equals(test.getUniqueIdObject().getLastSegment().getType());
  }

  /** Class and method, however many parameters it is executed with. */
  private static String method(TestIdentifier test) {
    final TestSource source = test.getSource().orElse(null);
    return source instanceof MethodSource method
        ? classes(test) + "." + method.getMethodName()
        : test.getDisplayName();
  }
}
