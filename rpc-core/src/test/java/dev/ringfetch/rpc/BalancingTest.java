package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.system.Warnings;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.logging.Level;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Load-balancing policies and service configs: which keep calls on gRPC, and what is told then. */
final class BalancingTest extends RingFixture {
  private static final Map<String, ?> ROUND_ROBIN =
      Map.of("loadBalancingConfig", List.of(Map.of("round_robin", Map.of())));
  private static final Map<String, ?> PICK_FIRST =
      Map.of(
          "loadBalancingConfig", List.of(Map.of("pick_first", Map.of("shuffleAddressList", true))));
  private static final Map<String, ?> TIMEOUT =
      Map.of("methodConfig", List.of(Map.of("name", List.of(Map.of()), "timeout", "10s")));

  private Warnings lines;

  @BeforeEach
  void listen() {
    lines = new Warnings(RingChannel.class, Level.INFO);
  }

  @AfterEach
  void endListening() {
    lines.close();
  }

  private void assertKept(String reason, UnaryOperator<RingChannelBuilder> settings) {
    final int logged = lines.messages().size();
    final RingChannel channel = build(settings.apply(builder()));
    for (int i = 0; i < 3; i++) {
      assertEquals(3, call(channel, 3).length);
    }
    assertEquals(3, channel.grpcCalls());
    assertEquals(3, channel.count(Counter.CHANNEL_CALLS_KEPT));
    assertEquals(0, channel.count(Counter.CHANNEL_CALLS_FALLBACK));
    assertFalse(channel.transport().isRing());
    assertEquals(reason + " is not carried by a ring", channel.transport().reason());
    assertEquals(
        List.of("there is no ring to test, so calls go over gRPC: " + channel.transport().reason()),
        lines.messages().subList(logged, lines.messages().size()));
  }

  private void assertRing(UnaryOperator<RingChannelBuilder> settings) throws Exception {
    final RingChannel channel = connect(settings.apply(builder()));
    assertEquals(3, call(channel, 3).length);
    assertEquals(1, channel.ringCalls());
    assertEquals(0, channel.count(Counter.CHANNEL_CALLS_KEPT));
  }

  @Test
  void whatNoRingCarriesIsLoggedOnceAndCounted() throws Exception {
    serve(Bytes.digesting());
    assertKept(
        "load-balancing policy round_robin",
        builder -> builder.defaultLoadBalancingPolicy("round_robin"));
    assertKept(
        "load-balancing policy round_robin", builder -> builder.defaultServiceConfig(ROUND_ROBIN));
    assertKept(
        "load-balancing policy round_robin",
        builder ->
            builder.defaultServiceConfig(Map.of()).defaultLoadBalancingPolicy("round_robin"));
    assertKept(
        "load-balancing policy round_robin",
        builder -> builder.defaultServiceConfig(Map.of("loadBalancingPolicy", "ROUND_ROBIN")));
    assertKept(
        "a service config with methodConfig", builder -> builder.defaultServiceConfig(TIMEOUT));
  }

  @Test
  void configsThatLeaveOneServerGetARing() throws Exception {
    serve(Bytes.digesting());
    assertRing(builder -> builder.defaultServiceConfig(Map.of()));
    assertRing(builder -> builder.defaultServiceConfig(Map.of("loadBalancingConfig", List.of())));
    assertRing(builder -> builder.defaultServiceConfig(PICK_FIRST));
    assertRing(
        builder ->
            builder.defaultServiceConfig(PICK_FIRST).defaultLoadBalancingPolicy("round_robin"));
    assertRing(
        builder ->
            builder
                .defaultLoadBalancingPolicy("round_robin")
                .defaultLoadBalancingPolicy("pick_first")
                .defaultServiceConfig(TIMEOUT)
                .defaultServiceConfig(null));
  }
}
