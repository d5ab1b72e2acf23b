package dev.ringfetch.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.ringfetch.system.ShmTempDirFactory;
import io.grpc.testing.integration.StressTestClient;
import io.grpc.testing.integration.TestServiceClient;
import io.grpc.testing.integration.TestServiceServer;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * gRPC's own test programs, as they are, which know nothing of rings: Ringfetch is on their class
 * path, and the drop-in's property is set.
 */
@Timeout(120)
class ProgramsTest {
  /**
   * Cases of the stress client. It has three more (large_unary, unimplemented_method,
   * cancel_after_first_response), which fail over gRPC's own transport, too: they look at tracers
   * that the program has turned off.
   */
  private static final List<String> STRESS_CASES =
      List.of(
          "empty_unary",
          "client_streaming",
          "server_streaming",
          "ping_pong",
          "empty_stream",
          "unimplemented_service",
          "cancel_after_begin",
          "timeout_on_sleeping_server");

  /**
   * Cases of the test client. It has others for Google's cloud, for the reports of a load balancer
   * (orca_per_rpc, orca_oob), and for servers that tell a compressed request from another and cache
   * answers, which this one does not (client_compressed_unary, client_compressed_streaming,
   * cacheable_unary).
   */
  private static final List<String> CLIENT_CASES =
      List.of(
          "empty_unary",
          "large_unary",
          "client_compressed_unary_noprobe",
          "server_compressed_unary",
          "client_streaming",
          "client_compressed_streaming_noprobe",
          "server_streaming",
          "server_compressed_streaming",
          "ping_pong",
          "empty_stream",
          "custom_metadata",
          "status_code_and_message",
          "special_status_message",
          "unimplemented_method",
          "unimplemented_service",
          "cancel_after_begin",
          "cancel_after_first_response",
          "timeout_on_sleeping_server",
          "very_large_request",
          "pick_first_unary",
          "rpc_soak",
          "channel_soak");

  private static final Pattern ENDED =
      Pattern.compile("the channel to .* has ended; calls by ring: (\\d+), by gRPC: (\\d+)");
  private static final Pattern TOTAL = Pattern.compile("Total calls made: (\\d+)");

  @TempDir(factory = ShmTempDirFactory.class)
  static Path directory;

  private static int port;
  private static Child server;

  @BeforeAll
  static void startServer() throws IOException {
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort(); // the program says no other than the one that it is told
    }
    server =
        Child.start(
            dropIn(), TestServiceServer.class.getName(), "--port=" + port, "--use_tls=false");
    assertNotNull(server.readTo("Server started"), "the server has not started");
  }

  @AfterAll
  static void endServer() {
    server.close();
  }

  private static List<String> dropIn() {
    return List.of("-Dringfetch.dropin=true", "-Dringfetch.shm.directory=" + directory);
  }

  @Tag("slow")
  @Test
  void stressClientTakesTheRing() throws Exception {
    final Path logging = Files.createFile(directory.resolve("logging.properties"));
    Files.writeString(
        logging,
        """
        handlers=java.util.logging.ConsoleHandler
        java.util.logging.ConsoleHandler.level=ALL
        dev.ringfetch.level=ALL
        """);
    final List<String> lines;
    try (Child client =
        Child.start(
            Stream.concat(
                    dropIn().stream(), Stream.of("-Djava.util.logging.config.file=" + logging))
                .toList(),
            StressTestClient.class.getName(),
            "--server_addresses=localhost:" + port,
            "--test_cases=" + String.join(":1,", STRESS_CASES) + ":1",
            "--num_channels_per_server=2",
            "--num_stubs_per_channel=2",
            "--test_duration_secs=4",
            "--metrics_port=0")) {
      lines = client.readAll();
      assertEquals(0, client.awaitEnd());
    }
    final String output = String.join("\n", lines);
    assertTrue(
        lines.stream().noneMatch(line -> line.contains("error") || line.contains("SEVERE")),
        output);
    final Matcher total = TOTAL.matcher(output);
    assertTrue(total.find(), output);
    long ringCalls = 0;
    long grpcCalls = 0;
    int channels = 0;
    for (final Matcher ended = ENDED.matcher(output); ended.find(); channels++) {
      ringCalls += Long.parseLong(ended.group(1));
      grpcCalls += Long.parseLong(ended.group(2));
    }
    System.out.printf(
        "StressTestClient: %s cases, %d calls by ring, %d by gRPC before there was one%n",
        total.group(1), ringCalls, grpcCalls);
    assertEquals(2, channels, output);
    // Each case was met often: the program walks through them in turn.
    assertTrue(Long.parseLong(total.group(1)) >= 4L * 2 * STRESS_CASES.size(), output);
    assertTrue(ringCalls > grpcCalls, output);
  }

  /** The test client asks for gRPC's own transport by its class: it comes to the port. */
  @TestFactory
  Stream<DynamicTest> testClientTakesThePort() {
    return CLIENT_CASES.stream()
        .map(
            name ->
                dynamicTest(
                    name,
                    () ->
                        TestServiceClient.main(
                            new String[] {
                              "--server_port=" + port, "--use_tls=false", "--test_case=" + name
                            })));
  }
}
