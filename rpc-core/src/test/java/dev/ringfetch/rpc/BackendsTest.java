package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.system.Warnings;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ConnectivityState;
import io.grpc.LoadBalancerProvider;
import io.grpc.LoadBalancerRegistry;
import io.grpc.NameResolverRegistry;
import io.grpc.ServerBuilder;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Level;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Channels to several servers: which server and which transport each call gets. */
final class BackendsTest {
  private static final int BACKENDS = 3;
  private static final String NO_RINGFETCH = "the server has no Ringfetch";

  /** Ends of calls under way on a server that stops at once: on a ring, and over gRPC. */
  private static final Set<Status.Code> LOST =
      Set.of(Status.Code.UNAVAILABLE, Status.Code.CANCELLED);

  private static final Map<String, ?> ROUND_ROBIN =
      Map.of("loadBalancingConfig", List.of(Map.of("round_robin", Map.of())));

  @TempDir private Path directory;

  private final List<RingChannel> channels = new ArrayList<>();
  private final Names names = new Names();
  private Servers servers;
  private Warnings lines;

  @BeforeEach
  void register() {
    servers = new Servers(directory);
    lines = new Warnings(RingChannel.class, Level.INFO);
    NameResolverRegistry.getDefaultRegistry().register(names);
  }

  @AfterEach
  void stop() throws Exception {
    lines.close();
    NameResolverRegistry.getDefaultRegistry().deregister(names);
    for (final RingChannel channel : channels) {
      channel.shutdownNow();
      RingFixture.assertTerminates(channel);
    }
    servers.stop();
  }

  private RingChannelBuilder builder() {
    return RingChannelBuilder.forTarget(Names.TARGET)
        .usePlaintext()
        .shmDirectory(directory)
        .spinTime(Duration.ZERO);
  }

  private RingChannel build(RingChannelBuilder builder) {
    final RingChannel channel = builder.build();
    channels.add(channel);
    return channel;
  }

  private static void call(RingChannel channel, int calls) {
    for (int i = 0; i < calls; i++) {
      assertEquals(5, call(channel).length);
    }
  }

  private static byte[] call(RingChannel channel) {
    return ClientCalls.blockingUnaryCall(
        channel,
        Bytes.METHOD,
        CallOptions.DEFAULT.withDeadlineAfter(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS),
        new byte[5]);
  }

  /** Makes calls until so many backends have a ring, and gRPC has a connection to all. */
  private void awaitRings(RingChannel channel, int rings) {
    RingFixture.await(
        rings + " rings",
        () -> {
          RingFixture.call(channel, 5);
          final List<BackendTransport> all = channel.transports();
          return all.size() == servers.size()
              && all.stream().filter(backend -> backend.transport().isRing()).count() == rings
              && all.stream().allMatch(backend -> backend.ringCalls() + backend.grpcCalls() > 0);
        });
  }

  private void assertBalanced(RingChannel channel) {
    final List<Long> before = servers.served();
    call(channel, 100 * servers.size());
    for (int i = 0; i < servers.size(); i++) {
      assertEquals(before.get(i) + 100, servers.served().get(i), "calls of server " + i);
    }
  }

  @Test
  void eachBackendHasARingAndThePolicyPicks() throws Exception {
    servers.add(BACKENDS);
    names.resolve(servers.ports(), null);
    final RingChannel channel = build(builder().defaultLoadBalancingPolicy("round_robin"));
    awaitRings(channel, BACKENDS);
    final long onRings = channel.ringCalls();
    assertBalanced(channel);
    assertEquals(onRings + 300, channel.ringCalls());
    assertTrue(channel.transport().isRing());
    assertEquals(
        servers.ports().stream().map(port -> "localhost/127.0.0.1:" + port).sorted().toList(),
        channel.transports().stream().map(BackendTransport::address).sorted().toList());
    assertEquals(List.of(), lines.messages());
  }

  @Test
  void aCallWithoutAStubIsBalancedToo() throws Exception {
    servers.add(BACKENDS);
    names.resolve(servers.ports(), null);
    final RingChannel channel = build(builder().defaultServiceConfig(ROUND_ROBIN));
    awaitRings(channel, BACKENDS);
    final List<Long> before = servers.served();
    final UnaryCall call =
        channel.newUnaryCall(
            Bytes.METHOD,
            new UnaryListener() {
              @Override
              public void onAnswer(UnaryCall ended, byte[] answer, int offset, int length) {}

              @Override
              public void onFailure(UnaryCall ended, Status status, io.grpc.Metadata trailers) {}
            });
    for (int i = 0; i < 30; i++) {
      assertEquals(Status.OK, call.run(new byte[3], 0, 3, UnaryCall.NO_TIMEOUT));
    }
    for (int i = 0; i < BACKENDS; i++) {
      assertEquals(before.get(i) + 10, servers.served().get(i), "calls of server " + i);
    }
  }

  @Test
  void aBackendWithoutRingfetchGetsItsShareOverGrpc() throws Exception {
    servers.add(BACKENDS - 1);
    servers.add(ServerBuilder.forPort(0));
    names.resolve(servers.ports(), null);
    final RingChannel channel = build(builder().defaultLoadBalancingPolicy("round_robin"));
    awaitRings(channel, BACKENDS - 1);
    final long onRings = channel.ringCalls();
    assertBalanced(channel);
    assertEquals(onRings + 200, channel.ringCalls());
    assertTrue(
        channel.transports().stream()
            .anyMatch(backend -> backend.transport().reason().equals(NO_RINGFETCH)),
        channel.transports().toString());
  }

  @Test
  void withoutAnyRingThePolicyPicksOnceForACall() throws Exception {
    servers.add(BACKENDS);
    names.resolve(servers.ports(), null);
    final RingChannel channel =
        build(builder().fabrics().defaultLoadBalancingPolicy("round_robin"));
    awaitRings(channel, 0);
    assertBalanced(channel);
    assertEquals(0, channel.ringCalls());
  }

  @Test
  void aResolversOwnConfigIsForGrpcAndTheLogSaysSo() throws Exception {
    servers.add(BACKENDS);
    names.resolve(servers.ports(), ROUND_ROBIN);
    final RingChannel channel = build(builder());
    RingFixture.await(
        "all connected",
        () -> {
          RingFixture.call(channel, 5);
          return servers.served().stream().allMatch(calls -> calls > 0);
        });
    assertBalanced(channel);
    assertEquals(0, channel.ringCalls());
    assertEquals(Backends.BYPASSED, channel.transport().reason());
    assertTrue(channel.count(Counter.CHANNEL_CALLS_KEPT_CONFIG) >= 300);
    assertEquals(
        List.of(
            "there is no ring to "
                + Names.TARGET
                + ", so calls go over gRPC: "
                + Backends.BYPASSED),
        lines.messages());
    final StatusRuntimeException e =
        assertThrows(
            StatusRuntimeException.class,
            () -> RingFixture.call(build(builder().requireFabric()), 5));
    assertEquals(Status.Code.UNIMPLEMENTED, e.getStatus().getCode());
    assertTrue(e.getMessage().contains(Backends.BYPASSED), e.getMessage());
  }

  @Test
  void limitsOfTheBuilderDoNotCountUnderAResolversOwnConfig() throws Exception {
    servers.add(1);
    names.resolve(servers.ports(), ROUND_ROBIN);
    final Map<String, ?> limited =
        Map.of(
            "methodConfig",
            List.of(Map.of("name", List.of(Map.of()), "maxRequestMessageBytes", 4.0)));
    final RingChannel channel = build(builder().defaultServiceConfig(limited));
    RingFixture.call(channel, 3); // connects: gRPC forgets calls that are too large before
    call(channel, 2);
    assertEquals(3, channel.grpcCalls());
  }

  @Test
  void callsFollowTheNamesAlthoughTheFirstServerLives() throws Exception {
    servers.add(2);
    names.resolve(servers.ports().subList(0, 1), null);
    final RingChannel channel = build(builder());
    RingFixture.await(
        "a ring to the first",
        () -> {
          RingFixture.call(channel, 5);
          return channel.ringCalls() > 0;
        });
    names.resolve(servers.ports().subList(1, 2), null);
    RingFixture.await("drained", () -> ((RingServer) servers.get(0)).sessionCount() == 0);
    final long before = servers.served().get(0);
    final long onRings = channel.ringCalls();
    RingFixture.await(
        "a ring to the second",
        () -> {
          RingFixture.call(channel, 5);
          return channel.ringCalls() > onRings;
        });
    assertEquals(before, servers.served().get(0));
  }

  @Test
  void aBackendThatThePolicyGivesUpDrains() throws Exception {
    servers.add(BACKENDS);
    names.resolve(servers.ports(), null);
    final RingChannel channel = build(builder().defaultLoadBalancingPolicy("round_robin"));
    awaitRings(channel, BACKENDS);
    names.resolve(servers.ports().subList(1, BACKENDS), null);
    RingFixture.await("given up", () -> channel.transports().size() == BACKENDS - 1);
    RingFixture.await("drained", () -> ((RingServer) servers.get(0)).sessionCount() == 0);
    final long before = servers.served().get(0);
    final long onRings = channel.ringCalls();
    call(channel, 20);
    assertEquals(before, servers.served().get(0));
    assertEquals(onRings + 20, channel.ringCalls());
  }

  @Test
  void whereARingIsRequiredTheFirstCallWaitsForOne() throws Exception {
    servers.add(BACKENDS);
    names.resolve(servers.ports(), null);
    final RingChannel channel =
        build(builder().requireFabric().defaultLoadBalancingPolicy("round_robin"));
    call(channel, 30);
    assertEquals(30, channel.ringCalls());
    assertEquals(0, channel.grpcCalls());
  }

  /** As pick_first of gRPC 1.65 does. */
  @Test
  void aPolicyMayPickABackendThatIsBeingConnected() throws Exception {
    final LoadBalancerProvider early = new EarlyPicks();
    LoadBalancerRegistry.getDefaultRegistry().register(early);
    try {
      servers.add(1);
      names.resolve(servers.ports(), null);
      final RingChannel asked = build(builder().defaultLoadBalancingPolicy(EarlyPicks.NAME));
      final ConnectivityState unused = asked.getState(true);
      RingFixture.await("a ring", () -> asked.transport().isRing());
      final RingChannel required =
          build(builder().requireFabric().defaultLoadBalancingPolicy(EarlyPicks.NAME));
      call(required, 1);
      assertEquals(1, required.ringCalls());
    } finally {
      LoadBalancerRegistry.getDefaultRegistry().deregister(early);
    }
  }

  @Test
  void aCallThatWaitsForADeadServerIsPickedAgain() throws Exception {
    servers.add(2);
    names.resolve(servers.ports(), null);
    final RingChannel channel =
        build(builder().requireFabric().defaultLoadBalancingPolicy("round_robin"));
    call(channel, 4);
    final Pick pick = channel.pick(Bytes.METHOD, CallOptions.DEFAULT, null);
    final String address = pick.backend().transport().address();
    servers.stop(address.endsWith(":" + servers.ports().get(0)) ? 0 : 1);
    RingFixture.await("lost", () -> pick.backend().isUnreachable());
    final Pick other =
        channel.awaitRing(pick, true).get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
    assertNotSame(pick.backend(), other.backend());
  }

  /** The channel gets another server between its pick and the start of the call. */
  @ParameterizedTest
  @ValueSource(strings = {"pick_first", "round_robin"})
  void aCallThatGrpcPicksAgainCountsForTheServerThatGetsIt(String policy) throws Exception {
    servers.add(2);
    names.resolve(servers.ports().subList(0, 1), null);
    final RingChannel channel = build(builder().fabrics().defaultLoadBalancingPolicy(policy));
    call(channel, 1);
    final ClientCall<byte[], byte[]> call = RingFixture.newGrpcCall(channel);
    names.resolve(servers.ports().subList(1, 2), null);
    channel.enterIdle();
    RingFixture.await("the first server has gone", () -> channel.transports().isEmpty());
    assertEquals(
        3,
        ClientCalls.futureUnaryCall(call, new byte[3])
            .get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS)
            .length);
    assertEquals(List.of(1L, 1L), servers.served());
    assertEquals(1, channel.transports().get(0).grpcCalls());
  }

  @Test
  void outlierDetectionSeesCallsOnRings() throws Exception {
    servers.add(BACKENDS);
    names.resolve(servers.ports(), null);
    final Map<String, ?> detection =
        Map.of(
            "interval",
            "0.1s",
            "baseEjectionTime",
            "600s",
            "maxEjectionTime",
            "600s",
            "maxEjectionPercent",
            50.0,
            "failurePercentageEjection",
            Map.of(
                "threshold",
                50.0,
                "enforcementPercentage",
                100.0,
                "minimumHosts",
                3.0,
                "requestVolume",
                5.0),
            "childPolicy",
            List.of(Map.of("round_robin", Map.of())));
    final RingChannel channel =
        build(
            builder()
                .defaultServiceConfig(
                    Map.of(
                        "loadBalancingConfig",
                        List.of(Map.of("outlier_detection_experimental", detection)))));
    awaitRings(channel, BACKENDS);
    servers.fail(0);
    RingFixture.await(
        "ejected",
        () -> {
          final long before = servers.served().get(0);
          for (int i = 0; i < 12; i++) {
            try {
              RingFixture.call(channel, 5);
            } catch (StatusRuntimeException e) {
              assertEquals(Status.Code.UNAVAILABLE, e.getStatus().getCode());
            }
          }
          return servers.served().get(0) == before;
        });
    final long onRings = channel.ringCalls();
    call(channel, 20);
    assertEquals(onRings + 20, channel.ringCalls());
  }

  @Test
  void serversThatDieUnderLoadLoseNoCallThatMayBeRepeated() throws Exception {
    servers.add(BACKENDS);
    names.resolve(servers.ports(), null);
    final RingChannel channel = build(builder().defaultLoadBalancingPolicy("round_robin"));
    awaitRings(channel, BACKENDS);
    final AtomicBoolean stopped = new AtomicBoolean();
    final AtomicLong succeeded = new AtomicLong();
    final AtomicLong failed = new AtomicLong();
    final List<Thread> callers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      final Thread caller =
          new Thread(
              () -> {
                while (!stopped.get()) {
                  try {
                    assertEquals(5, call(channel).length);
                    succeeded.incrementAndGet();
                  } catch (StatusRuntimeException e) {
                    if (!LOST.contains(e.getStatus().getCode())) {
                      stopped.set(true);
                      throw e;
                    }
                    failed.incrementAndGet();
                  }
                }
              });
      callers.add(caller);
      caller.start();
    }
    for (int i = 0; i < BACKENDS - 1; i++) {
      final long before = succeeded.get();
      RingFixture.await("calls", () -> succeeded.get() > before + 100);
      servers.stop(i);
    }
    final long before = succeeded.get();
    RingFixture.await("calls of the last", () -> succeeded.get() > before + 100);
    assertFalse(stopped.getAndSet(true), "a call has ended otherwise");
    for (final Thread caller : callers) {
      caller.join(TimeUnit.SECONDS.toMillis(TransportHarness.TIMEOUT_S));
      assertFalse(caller.isAlive(), "a call hangs");
    }
    final long ran = servers.served().stream().mapToLong(Long::longValue).sum();
    final long settled = channel.ringCalls() + channel.grpcCalls();
    assertTrue(ran <= settled, ran + " ran, " + settled + " were sent");
    assertTrue(failed.get() <= 2L * callers.size() * BACKENDS, failed + " failed");
  }

  /** gRPC retries and hedges; a channel counts the calls, and its backends the attempts. */
  @Test
  void eachAttemptIsPickedAndCountedAtItsBackend() throws Exception {
    servers.add(BACKENDS);
    names.resolve(servers.ports(), null);
    final RingChannel retried =
        build(
            builder()
                .defaultServiceConfig(ServiceConfigTest.RETRIED)
                .defaultLoadBalancingPolicy("round_robin"));
    awaitConnections(retried);
    servers.fail(1);
    call(retried, 30);
    final List<Long> before = servers.served();
    final long callsBefore = retried.grpcCalls();
    final long attemptsBefore = attempts(retried);
    call(retried, 30);
    for (int i = 0; i < BACKENDS; i++) {
      assertEquals(before.get(i) + 15, servers.served().get(i), "attempts of server " + i);
    }
    assertEquals(callsBefore + 30, retried.grpcCalls());
    assertEquals(attemptsBefore + 45, attempts(retried));
    assertEquals(0, retried.ringCalls());
    final RingChannel hedged =
        build(
            builder()
                .defaultServiceConfig(ServiceConfigTest.HEDGED)
                .defaultLoadBalancingPolicy("round_robin"));
    servers.fail(0);
    servers.fail(2);
    for (int i = 0; i < 10; i++) {
      assertThrows(StatusRuntimeException.class, () -> call(hedged));
    }
    assertEquals(10, hedged.grpcCalls());
    assertEquals(10, hedged.count(Counter.CHANNEL_CALLS_KEPT_RETRY));
    assertEquals(30, attempts(hedged));
  }

  private static long attempts(RingChannel channel) {
    return channel.transports().stream().mapToLong(BackendTransport::grpcCalls).sum();
  }

  private void awaitConnections(RingChannel channel) {
    RingFixture.await(
        "a connection to each server",
        () -> {
          RingFixture.call(channel, 5);
          final List<BackendTransport> all = channel.transports();
          return all.size() == servers.size()
              && all.stream().allMatch(backend -> backend.grpcCalls() > 0);
        });
  }
}
