package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.grpc.CallOptions;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.InsecureServerCredentials;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.ClientCalls;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An application that knows grpc-api alone, with and without the property. */
@Timeout(120)
class DropInTest {
  private static final String RINGS =
      "RingServer RingChannel over a ring\nRingServer RingChannel over a ring";
  private static final String NO_RINGS =
      "ServerImpl ManagedChannelImpl\nServerImpl ManagedChannelImpl";

  private static String run(List<String> flags, String variable) throws Exception {
    final List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1"));
    command.addAll(flags);
    command.addAll(
        List.of("-cp", System.getProperty("java.class.path"), DropInTest.class.getName()));
    final ProcessBuilder builder =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
    builder.environment().remove(Beneath.VARIABLE);
    if (variable != null) {
      builder.environment().put(Beneath.VARIABLE, variable);
    }
    final Process process = builder.start();
    try (BufferedReader output =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      final String lines = output.lines().collect(Collectors.joining("\n"));
      assertEquals(0, process.waitFor(), lines);
      return lines;
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void propertyGivesRings() throws Exception {
    assertEquals(RINGS, run(List.of("-D" + Beneath.PROPERTY + "=true"), null));
  }

  @Test
  void variableGivesRings() throws Exception {
    assertEquals(RINGS, run(List.of(), "true"));
  }

  @Test
  void withoutThemNothingChanges() throws Exception {
    assertEquals(NO_RINGS, run(List.of(), null));
  }

  @Test
  void propertyCountsBeforeTheVariable() throws Exception {
    assertEquals(NO_RINGS, run(List.of("-D" + Beneath.PROPERTY + "=false"), "true"));
  }

  /** The application. */
  public static void main(String[] args) throws Exception {
    serve(
        Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create()),
        port -> Grpc.newChannelBuilder("localhost:" + port, InsecureChannelCredentials.create()));
    serve(
        ServerBuilder.forPort(0),
        port -> ManagedChannelBuilder.forTarget("localhost:" + port).usePlaintext());
  }

  private static void serve(
      ServerBuilder<?> builder, IntFunction<ManagedChannelBuilder<?>> channels)
      throws IOException, InterruptedException {
    final Server server =
        builder
            .addService(
                ServerServiceDefinition.builder(Bytes.SERVICE)
                    .addMethod(Bytes.METHOD, Bytes.digesting())
                    .build())
            .build()
            .start();
    final ManagedChannel channel = channels.apply(server.getPort()).build();
    final long startNs = System.nanoTime();
    do {
      ClientCalls.blockingUnaryCall(channel, Bytes.METHOD, CallOptions.DEFAULT, new byte[1]);
    } while (channel instanceof RingChannel ring
        && ring.ringCalls() == 0
        && System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(TransportHarness.TIMEOUT_S));
    final String way =
        channel instanceof RingChannel ring && ring.ringCalls() > 0 ? " over a ring" : "";
    final String name = channel.getClass().getSimpleName();
    System.out.println(
        server.getClass().getSimpleName()
            + " "
            + (name.startsWith("ManagedChannel") ? "ManagedChannelImpl" : name) // or its wrapper
            + way);
    channel.shutdownNow().awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
    server.shutdownNow().awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
  }
}
