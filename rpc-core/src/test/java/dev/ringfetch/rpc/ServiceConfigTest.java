package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.system.Warnings;
import io.grpc.CallOptions;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.logging.Level;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Service configs of a channel's builder, over a ring. */
final class ServiceConfigTest extends RingFixture {
  private static final Map<String, ?> ROUND_ROBIN =
      Map.of("loadBalancingConfig", List.of(Map.of("round_robin", Map.of())));

  /** A config with a retry policy for all methods. */
  static final Map<String, ?> RETRIED =
      forAllMethods(
          "retryPolicy",
          Map.of(
              "maxAttempts",
              3.0,
              "initialBackoff",
              "0.01s",
              "maxBackoff",
              "0.01s",
              "backoffMultiplier",
              1.0,
              "retryableStatusCodes",
              List.of("UNAVAILABLE")));

  /** A config with a hedging policy for all methods. */
  static final Map<String, ?> HEDGED =
      forAllMethods(
          "hedgingPolicy",
          Map.of(
              "maxAttempts",
              3.0,
              "hedgingDelay",
              "0s",
              "nonFatalStatusCodes",
              List.of("UNAVAILABLE")));

  private Warnings lines;

  @BeforeEach
  void listen() {
    lines = new Warnings(RingChannel.class, Level.INFO);
  }

  @AfterEach
  void endListening() {
    lines.close();
  }

  private static Map<String, ?> forAllMethods(String key, Object value) {
    final Map<String, Object> method = new HashMap<>(Map.of("name", List.of(Map.of())));
    method.put(key, value);
    return Map.of("methodConfig", List.of(method));
  }

  private static StatusRuntimeException failure(
      RingChannel channel, CallOptions options, int length) {
    return assertThrows(
        StatusRuntimeException.class,
        () -> ClientCalls.blockingUnaryCall(channel, Bytes.METHOD, options, new byte[length]));
  }

  private void assertRing(UnaryOperator<RingChannelBuilder> settings) throws Exception {
    final RingChannel channel = connect(settings.apply(builder()));
    assertEquals(3, call(channel, 3).length);
    assertEquals(1, channel.ringCalls());
    assertEquals(0, channel.grpcCalls());
  }

  @Test
  void anyPolicyGetsARing() throws Exception {
    serve(Bytes.digesting());
    assertRing(builder -> builder.defaultServiceConfig(Map.of()));
    assertRing(builder -> builder.defaultServiceConfig(Map.of("loadBalancingConfig", List.of())));
    assertRing(builder -> builder.defaultServiceConfig(ROUND_ROBIN));
    assertRing(builder -> builder.defaultLoadBalancingPolicy("round_robin"));
    assertRing(
        builder ->
            builder
                .defaultLoadBalancingPolicy("round_robin")
                .defaultServiceConfig(Map.of("loadBalancingPolicy", "PICK_FIRST")));
    assertRing(
        builder ->
            builder
                .defaultServiceConfig(forAllMethods("timeout", "600s"))
                .defaultServiceConfig(null));
    assertEquals(List.of(), lines.messages());
  }

  @Test
  void aConfigThatGrpcRefusesFailsTheBuild() throws Exception {
    serve(Bytes.digesting());
    assertThrows(
        IllegalStateException.class,
        () ->
            builder()
                .defaultServiceConfig(
                    Map.of("loadBalancingConfig", List.of(Map.of("no_such_policy", Map.of()))))
                .build());
  }

  @Test
  void aPolicyThatIsRegisteredLateIsLeftToGrpc() throws Exception {
    serve(Bytes.digesting());
    final RingChannel channel = build(builder().defaultLoadBalancingPolicy("no_such_policy"));
    assertEquals(
        "gRPC's registry had no policy no_such_policy when the channel was built",
        channel.transport().reason());
  }

  @Test
  void theTimeoutOfAMethodEndsItsCallsAndNotTheSession() throws Exception {
    serve(
        ServerCalls.asyncUnaryCall(
            (byte[] request, io.grpc.stub.StreamObserver<byte[]> r) -> {
              if (request.length == 1) {
                r.onNext(request);
                r.onCompleted();
              }
            }));
    final RingChannel channel =
        connect(builder().defaultServiceConfig(forAllMethods("timeout", "1.5s")));
    final Status late = failure(channel, CallOptions.DEFAULT, 2).getStatus();
    assertEquals(Status.Code.DEADLINE_EXCEEDED, late.getCode());
    final Status sooner =
        failure(channel, CallOptions.DEFAULT.withDeadlineAfter(10, TimeUnit.MILLISECONDS), 2)
            .getStatus();
    assertEquals(Status.Code.DEADLINE_EXCEEDED, sooner.getCode());
    assertEquals(1, call(channel, 1).length);
    assertEquals(3, channel.ringCalls());
    assertEquals(1, channel.count(Counter.CHANNEL_SESSIONS_OPENED));
  }

  @Test
  void aTimeoutLongerThanTimeItselfIsNone() throws Exception {
    serve(Bytes.digesting());
    assertRing(builder -> builder.defaultServiceConfig(forAllMethods("timeout", "9223372036.9s")));
  }

  @Test
  void theSmallerLimitOfSizesCounts() throws Exception {
    serve(Bytes.digesting());
    final RingChannel channel =
        connect(builder().defaultServiceConfig(forAllMethods("maxRequestMessageBytes", 100.0)));
    assertEquals(100, call(channel, 100).length);
    final CallOptions smaller = CallOptions.DEFAULT.withMaxOutboundMessageSize(50);
    for (final Status tooLong :
        List.of(
            failure(channel, CallOptions.DEFAULT, 101).getStatus(),
            failure(channel, smaller, 51).getStatus())) {
      assertEquals(Status.Code.CANCELLED, tooLong.getCode(), "as over gRPC");
      assertEquals(
          Status.Code.RESOURCE_EXHAUSTED, Status.fromThrowable(tooLong.getCause()).getCode());
    }
    final RingChannel small =
        connect(builder().defaultServiceConfig(forAllMethods("maxResponseMessageBytes", 10.0)));
    assertEquals(
        Status.Code.RESOURCE_EXHAUSTED,
        failure(small, CallOptions.DEFAULT, 50).getStatus().getCode());
  }

  @Test
  void methodsThatGrpcRetriesStayThere() throws Exception {
    serve(Bytes.digesting());
    final RingChannel channel = connect(builder().defaultServiceConfig(RETRIED));
    call(channel, 3);
    call(channel, 3);
    assertEquals(0, channel.ringCalls());
    assertEquals(2, channel.count(Counter.CHANNEL_CALLS_KEPT_RETRY));
    assertTrue(
        channel.transport().reason().endsWith("gRPC carries, because it retries: all methods"),
        channel.transport().reason());
    assertEquals(1, lines.messages().size(), lines.messages().toString());
    assertRing(builder -> builder.defaultServiceConfig(RETRIED).disableRetry());
    assertRing(builder -> builder.defaultServiceConfig(HEDGED).disableRetry());
  }
}
