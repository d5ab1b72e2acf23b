package dev.ringfetch.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.ringfetch.system.ShmTempDirFactory;
import io.grpc.NameResolverRegistry;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.junit.runner.JUnitCore;
import org.junit.runner.Request;
import org.junit.runner.Result;
import org.junit.runner.notification.Failure;

/**
 * Each case of gRPC's interop suite: over a ring in one process and to another one, and where every
 * call falls back. The suite is of JUnit 4, which runs it.
 */
class InteropTest {
  /** All cases of the suite: one that another release adds or drops is to be noticed. */
  private static final List<String> CASES =
      List.of(
          "cancelAfterBegin",
          "cancelAfterFirstResponse",
          "censusContextsPropagated",
          "clientStreaming",
          "customMetadata",
          "deadlineExceeded",
          "deadlineExceededServerStreaming",
          "deadlineInPast",
          "deadlineNotExceeded",
          "emptyStream",
          "emptyUnary",
          "emptyUnaryWithRetriableStream",
          "exchangeMetadataStreamingCall",
          "exchangeMetadataUnaryCall",
          "fullDuplexCallShouldSucceed",
          "getServerAddressAndLocalAddressFromClient",
          "gracefulShutdown",
          "halfDuplexCallShouldSucceed",
          "largeUnary",
          "maxInboundSize_exact",
          "maxInboundSize_tooBig",
          "maxOutboundSize_exact",
          "maxOutboundSize_tooBig",
          "pingPong",
          "sendsTimeoutHeader",
          "serverCompressedUnary",
          "serverStreaming",
          "serverStreamingShouldBeFlowControlled",
          "specialStatusMessage",
          "statusCodeAndMessage",
          "timeoutOnSleepingServer",
          "unimplementedMethod",
          "unimplementedService",
          "veryLargeRequest",
          "veryLargeResponse");

  /** What the suite leaves out by itself where the server is in another process, and why. */
  static final Map<String, String> SKIP_THEMSELVES =
      Map.of(
          "sendsTimeoutHeader",
          "looks at the server's headers in memory; see timeoutHeaderReachesTheServer",
          "censusContextsPropagated",
          "looks at the server's context in memory; see censusContextReachesTheServer");

  /** What stands for them. */
  private static final List<String> IN_THEIR_PLACE =
      List.of("censusContextReachesTheServer", "timeoutHeaderReachesTheServer");

  @TempDir(factory = ShmTempDirFactory.class)
  static Path directory;

  private static final Logger RINGS_LOG = Logger.getLogger("dev.ringfetch");

  private static final List<Child> others = new ArrayList<>();
  private static Child server;

  @BeforeAll
  static void startServer() throws Exception {
    RINGS_LOG.setLevel(Level.WARNING); // each case without a ring would say so
    ChannelInterop.directory = directory;
    Files.createDirectory(directory.resolve(OtherDirectoryInterop.NAME));
    server = Child.start(List.of(), InteropServer.class.getName(), directory.toString(), "shm");
    RemoteInterop.serverPort = port(server);
    BalancedInterop.ports.add(RemoteInterop.serverPort);
    others.add(Child.start(List.of(), InteropServer.class.getName(), directory.toString(), "shm"));
    others.add(Child.start(List.of(), InteropServer.class.getName(), directory.toString()));
    for (final Child other : others) {
      BalancedInterop.ports.add(port(other));
    }
    NameResolverRegistry.getDefaultRegistry().register(BalancedInterop.NAMES);
  }

  private static int port(Child child) throws IOException {
    return Integer.parseInt(
        child.readTo(InteropServer.PORT).substring(InteropServer.PORT.length()));
  }

  @AfterAll
  static void endServer() {
    NameResolverRegistry.getDefaultRegistry().deregister(BalancedInterop.NAMES);
    others.forEach(Child::close);
    server.close();
    RINGS_LOG.setLevel(null);
  }

  @TestFactory
  Stream<DynamicTest> overTheRing() {
    return cases(RingInterop.class, List.of(), Map.of());
  }

  @TestFactory
  Stream<DynamicTest> overTheRingToAnotherProcess() {
    return remoteCases();
  }

  @TestFactory
  Stream<DynamicTest> overServersInTurn() {
    return cases(BalancedInterop.class, List.of(), SKIP_THEMSELVES);
  }

  @TestFactory
  Stream<DynamicTest> overTheFallbackWithoutRings() {
    return cases(NoRingsInterop.class, List.of(), Map.of());
  }

  @TestFactory
  Stream<DynamicTest> overTheFallbackWithoutCommonMemory() {
    return cases(OtherDirectoryInterop.class, List.of(), Map.of());
  }

  /** The cases to another process. */
  static Stream<DynamicTest> remoteCases() {
    return cases(RemoteInterop.class, IN_THEIR_PLACE, SKIP_THEMSELVES);
  }

  private static Stream<DynamicTest> cases(
      Class<? extends ChannelInterop> suite, List<String> more, Map<String, String> skipped) {
    final List<String> names =
        Arrays.stream(suite.getMethods())
            .filter(method -> method.isAnnotationPresent(org.junit.Test.class))
            .map(Method::getName)
            .sorted()
            .toList();
    assertEquals(Stream.concat(CASES.stream(), more.stream()).sorted().toList(), names);
    return names.stream().map(name -> dynamicTest(name, () -> run(suite, name, skipped.get(name))));
  }

  /**
   * Runs a case.
   *
   * @param reason why it is to skip itself, or null.
   */
  private static void run(Class<?> suite, String name, String reason) throws Throwable {
    final Result result = new JUnitCore().run(Request.method(suite, name));
    for (final Failure failure : result.getFailures()) {
      throw failure.getException();
    }
    assertEquals(1, result.getRunCount(), "cases that have run");
    assertEquals(0, result.getIgnoreCount(), "cases that were ignored");
    assertEquals(
        reason == null ? 0 : 1, result.getAssumptionFailureCount(), "cases that skip themselves");
    if (reason != null) {
      final String skipped = name + " skips itself: " + reason;
      System.out.println(skipped);
      abort(skipped);
    }
  }
}
