package dev.ringfetch.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.ringfetch.system.ShmTempDirFactory;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.junit.runner.JUnitCore;
import org.junit.runner.Request;
import org.junit.runner.Result;
import org.junit.runner.notification.Failure;

/** Each case of gRPC's interop suite over a ring. The suite is of JUnit 4, which runs it. */
class InteropTest {
  /** What does not run here, and why. */
  private static final Map<String, String> LEFT_OUT =
      Map.of(
          "censusContextsPropagated",
          "this release of the suite fails it over gRPC's own transport, too: its census is older"
              + " than this gRPC");

  @TempDir(factory = ShmTempDirFactory.class)
  static Path directory;

  @TestFactory
  Stream<DynamicTest> overTheRing() {
    RingInterop.directory = directory;
    return Arrays.stream(RingInterop.class.getMethods())
        .filter(method -> method.isAnnotationPresent(org.junit.Test.class))
        .map(Method::getName)
        .sorted(Comparator.naturalOrder())
        .map(name -> dynamicTest(name, () -> run(name)));
  }

  private static void run(String name) throws Throwable {
    assumeTrue(!LEFT_OUT.containsKey(name), () -> LEFT_OUT.get(name));
    final Result result = new JUnitCore().run(Request.method(RingInterop.class, name));
    for (final Failure failure : result.getFailures()) {
      throw failure.getException();
    }
    assertEquals(1, result.getRunCount(), "cases that have run");
    assertEquals(0, result.getIgnoreCount(), "cases that were ignored");
  }
}
