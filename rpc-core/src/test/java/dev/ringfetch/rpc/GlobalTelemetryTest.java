package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.CallOptions;
import io.grpc.ChannelCredentials;
import io.grpc.Grpc;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerBuilder;
import io.grpc.ServerCredentials;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What is registered for all channels and servers of a process sees ring calls as it sees calls
 * over gRPC, each once. In a process of its own: it can be registered once.
 */
@Timeout(120)
final class GlobalTelemetryTest {
  private static final MethodDescriptor<byte[], byte[]> CHAT =
      Bytes.method(Bytes.SERVICE + "/Chat", MethodType.BIDI_STREAMING);
  private static final int CALLS = 3;

  @Test
  void metricsAndSpansAreTheSameOverRingAndGrpc() throws Exception {
    final String grpc = run("grpc");
    assertEquals(grpc, run("ring"));
    for (final String span : List.of("Sent.", "Attempt.", "Recv.")) {
      assertTrue(grpc.contains(span + "contract.Bytes.Call=" + CALLS), grpc);
      assertTrue(grpc.contains(span + "contract.Bytes.Chat=" + CALLS), grpc);
    }
    assertTrue(grpc.contains("grpc.server.call.duration={OK=" + 2 * CALLS + "}"), grpc);
  }

  @Tag("slow")
  @Test
  void theyAreTheSameOnEachWayToGrpc() throws Exception {
    final String grpc = run("grpc");
    assertEquals(grpc, run("fallback"));
    assertEquals(grpc, run("authority"));
  }

  private static String run(String transport) throws Exception {
    return JavaProcess.run(
        GlobalTelemetryTest.class,
        List.of("-Dtransport=" + transport, "-DGRPC_EXPERIMENTAL_ENABLE_OTEL_TRACING=true"),
        "",
        null);
  }

  /** Makes calls, and says what is known of them. */
  public static void main(String[] args) throws Exception {
    final Telemetry telemetry = new Telemetry();
    telemetry.grpc().registerGlobal();
    final String transport = System.getProperty("transport");
    final CallOptions options =
        transport.equals("authority")
            ? CallOptions.DEFAULT.withAuthority("localhost")
            : CallOptions.DEFAULT;
    try (TransportHarness harness =
        switch (transport) {
          case "grpc" -> new GrpcHarness();
          case "ring" -> new RingHarness();
          case "authority" ->
              new OpenHarness().secure(Tls.server(), Tls.client()); // then gRPC holds it
          default -> new FallbackHarness();
        }) {
      harness.handle(CHAT, Served.digesting()).handle(Served.digesting()).start();
      for (int i = 0; i < CALLS; i++) {
        for (final MethodDescriptor<byte[], byte[]> method : List.of(Bytes.METHOD, CHAT)) {
          new Exchange(harness.channel(), method, options).send(new byte[i]).response();
        }
      }
      final Map<String, Map<String, Long>> ended = telemetry.awaitEnded(2 * CALLS);
      final Map<String, Integer> spans = new TreeMap<>(telemetry.spans());
      spans.keySet().removeIf(name -> !name.contains("contract"));
      System.out.println(ended + " " + spans);
      harness.verify(harness.channel());
    }
  }

  /** A channel of ours whose server has no rings. */
  private static final class FallbackHarness extends PlainHarness {
    @Override
    ServerBuilder<?> newServerBuilder(int port, ServerCredentials credentials) {
      return Grpc.newServerBuilderForPort(port, credentials);
    }

    @Override
    ManagedChannelBuilder<?> newChannelBuilder(String target, ChannelCredentials credentials) {
      return RingChannelBuilder.newChannelBuilder(target, credentials);
    }
  }

  /** A channel of ours with a ring, on which not every call need go. */
  private static final class OpenHarness extends PlainHarness {
    private final Path directory = newDirectory();

    private static Path newDirectory() {
      try {
        return Files.createTempDirectory("ringfetch-test-");
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    ServerBuilder<?> newServerBuilder(int port, ServerCredentials credentials) {
      return RingServerBuilder.newServerBuilderForPort(port, credentials)
          .shmDirectory(directory)
          .spinTime(Duration.ZERO);
    }

    @Override
    ManagedChannelBuilder<?> newChannelBuilder(String target, ChannelCredentials credentials) {
      return RingChannelBuilder.newChannelBuilder(target, credentials)
          .shmDirectory(directory)
          .spinTime(Duration.ZERO);
    }

    @Override
    void awaitConnected(ManagedChannel channel) throws Exception {
      ((RingChannel) channel).awaitRing().get(TIMEOUT_S, TimeUnit.SECONDS);
    }

    @Override
    void verify(ManagedChannel channel) {
      assertEquals(2 * CALLS, ((RingChannel) channel).grpcCalls());
      assertTrue(((RingChannel) channel).transport().isRing());
    }

    @Override
    void dispose() {
      directory.toFile().delete();
    }
  }
}
