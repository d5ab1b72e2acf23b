package dev.ringfetch.rdma.faults;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.IndexServer;
import dev.ringfetch.index.direct.DirectContext;
import dev.ringfetch.index.direct.DirectReader;
import dev.ringfetch.index.direct.DirectValue;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.rdma.natives.RdmaAssumptions;
import dev.ringfetch.system.Await;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An index server that is killed while a client reads its memory over a device. */
@Tag("verbs")
@Timeout(300)
final class IndexServerKilledTest {
  private static final ByteString KEY = ByteString.copyFromUtf8("key");
  private static final ByteString VALUE = ByteString.copyFromUtf8("value");

  @Test
  void readsEndInAStatus() throws Exception {
    RdmaAssumptions.assumeDevice();
    final Process server = startServer();
    ManagedChannel channel = null;
    try {
      channel =
          ManagedChannelBuilder.forAddress("localhost", awaitPort(server)).usePlaintext().build();
      killAndRead(server, channel);
    } finally {
      server.destroyForcibly();
      if (channel != null) {
        channel.shutdownNow();
      }
    }
  }

  private static Process startServer() throws IOException {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx256m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            IndexServer.class.getName(),
            "--port=0",
            "--fabric=verbs",
            "--memory=16M")
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  private static int awaitPort(Process server) throws IOException {
    final String line = String.valueOf(server.inputReader(UTF_8).readLine());
    assertTrue(line.startsWith("index server listening on port "), line);
    return Integer.parseInt(line.substring(line.lastIndexOf(' ') + 1));
  }

  private static void killAndRead(Process server, ManagedChannel channel) throws Exception {
    final DirectValue found = new DirectValue();
    final var unused =
        IndexGrpc.newBlockingStub(channel)
            .withDeadlineAfter(FaultSteps.WAIT_S, TimeUnit.SECONDS)
            .put(PutRequest.newBuilder().setKey(KEY).setValue(VALUE).build());
    try (DirectReader reader =
        DirectReader.open(channel, "", new DirectContext().fabrics("verbs"))) {
      assertTrue(reader.isDirect(), reader::obstacle);
      for (int i = 0; i < 100; i++) {
        assertTrue(reader.get(KEY, found));
      }
      final Thread killer = new Thread(server::destroyForcibly);
      killer.start();
      final long startNs = System.nanoTime();
      StatusRuntimeException failure = null;
      long reads = 0;
      while (failure == null && Await.millisSince(startNs) < 1000L * FaultSteps.WAIT_S) {
        try {
          assertTrue(reader.get(KEY, found));
          assertEquals(VALUE, found.value());
          reads++;
        } catch (StatusRuntimeException e) {
          failure = e;
        }
      }
      final long tookMs = Await.millisSince(startNs);
      killer.join();
      System.out.printf(
          "index server killed: %d reads after it began, %s after %d ms%n", reads, failure, tookMs);
      assertEquals(Status.Code.UNAVAILABLE, Status.fromThrowable(failure).getCode());
      assertTrue(tookMs < 1000L * FaultSteps.LIMIT_S, "tookMs=" + tookMs);
      assertFalse(reader.isDirect());
      assertEquals("memory is closed", reader.obstacle());
    }
  }
}
