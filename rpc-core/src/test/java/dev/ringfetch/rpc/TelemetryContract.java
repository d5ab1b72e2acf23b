package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.CallOptions;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Status;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** OpenTelemetry, configured as gRPC's guide has it, is told the same of calls everywhere. */
abstract class TelemetryContract extends TransportContract {
  private static final MethodDescriptor<byte[], byte[]> CHAT =
      Bytes.method(Bytes.SERVICE + "/Chat", MethodType.BIDI_STREAMING);

  private final Telemetry telemetry = new Telemetry();

  TelemetryContract(Supplier<TransportHarness> harnesses) {
    super(harnesses);
  }

  private void startObserved(Served.Handler handler) throws Exception {
    harness
        .channel(telemetry.grpc()::configureChannelBuilder)
        .server(telemetry.grpc()::configureServerBuilder)
        .handle(CHAT, handler);
    start(handler);
  }

  @Test
  void endsAreCountedByStatusAtBothSides() throws Exception {
    startObserved(
        new Served.Handler(
            served -> {
              if (served.request().length == 0) {
                served.call.close(Status.ABORTED, new Metadata());
              } else if (served.request().length < 500) {
                served.answer(Bytes.digest(served.request()));
              }
            }));
    for (final MethodDescriptor<byte[], byte[]> method : List.of(Bytes.METHOD, CHAT)) {
      for (final int length : new int[] {100, 0, 200}) {
        new Exchange(harness.channel(), method, CallOptions.DEFAULT).send(new byte[length]).await();
      }
      final CallOptions options = CallOptions.DEFAULT.withDeadlineAfter(200, TimeUnit.MILLISECONDS);
      new Exchange(harness.channel(), method, options).send(new byte[500]).await();
    }
    final Map<String, Long> client = Map.of("OK", 4L, "ABORTED", 2L, "DEADLINE_EXCEEDED", 2L);
    final Map<String, Map<String, Long>> ended = telemetry.awaitEnded(8);
    assertEquals(client, ended.get("grpc.client.call.duration"));
    assertEquals(client, ended.get("grpc.client.attempt.duration"));
    final Map<String, Long> server = new TreeMap<>(ended.get("grpc.server.call.duration"));
    final long late = // the server may notice itself, or be told by the client
        server.getOrDefault("CANCELLED", 0L) + server.getOrDefault("DEADLINE_EXCEEDED", 0L);
    assertEquals(2, late, server::toString);
    server.keySet().removeAll(List.of("CANCELLED", "DEADLINE_EXCEEDED"));
    assertEquals(Map.of("OK", 4L, "ABORTED", 2L), server);
  }

  @Test
  void bytesAreCountedAtBothSides() throws Exception {
    startObserved(Served.digesting());
    for (final MethodDescriptor<byte[], byte[]> method : List.of(Bytes.METHOD, CHAT)) {
      for (final int length : new int[] {100, 200}) {
        new Exchange(harness.channel(), method, CallOptions.DEFAULT)
            .send(Bytes.random(length, length))
            .response();
      }
    }
    telemetry.awaitEnded(4);
    for (final String sent :
        List.of(
            "grpc.client.attempt.sent_total_compressed_message_size",
            "grpc.server.call.rcvd_total_compressed_message_size")) {
      assertTrue(telemetry.bytes(sent) >= 2 * (100 + 200), sent);
    }
    for (final String answered :
        List.of(
            "grpc.client.attempt.rcvd_total_compressed_message_size",
            "grpc.server.call.sent_total_compressed_message_size")) {
      assertTrue(telemetry.bytes(answered) >= 2 * (100 + 200), answered);
    }
  }
}
