package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.system.Warnings;
import io.grpc.EquivalentAddressGroup;
import io.grpc.NameResolver;
import io.grpc.NameResolverProvider;
import io.grpc.NameResolverRegistry;
import io.grpc.Server;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ServerCalls;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Level;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Addresses and service configs of a name resolver: which of them keep calls on gRPC. */
final class ResolverWatchTest {
  private static final int BACKENDS = 3;

  private static final Map<String, ?> ROUND_ROBIN =
      Map.of("loadBalancingConfig", List.of(Map.of("round_robin", Map.of())));
  private static final Map<String, ?> PICK_FIRST =
      Map.of("loadBalancingConfig", List.of(Map.of("pick_first", Map.of())));
  private static final Map<String, ?> TIMEOUT =
      Map.of("methodConfig", List.of(Map.of("name", List.of(Map.of()), "timeout", "600s")));

  private static final String OVER_THREE =
      "load-balancing policy round_robin over 3 addresses is not carried by a ring";

  @TempDir private Path directory;

  private final List<Server> servers = new ArrayList<>();
  private final List<AtomicLong> served = new ArrayList<>();
  private final List<RingChannel> channels = new ArrayList<>();
  private final Names names = new Names();
  private Warnings lines;

  @BeforeEach
  void start() throws Exception {
    lines = new Warnings(RingChannel.class, Level.INFO);
    NameResolverRegistry.getDefaultRegistry().register(names);
    for (int i = 0; i < BACKENDS; i++) {
      final AtomicLong calls = new AtomicLong();
      served.add(calls);
      servers.add(
          RingServerBuilder.forPort(0)
              .shmDirectory(directory)
              .spinTime(Duration.ZERO)
              .addService(
                  RingFixture.service(
                      ServerCalls.asyncUnaryCall(
                          (byte[] request, io.grpc.stub.StreamObserver<byte[]> responses) -> {
                            calls.incrementAndGet();
                            responses.onNext(request);
                            responses.onCompleted();
                          })))
              .build()
              .start());
    }
  }

  @AfterEach
  void stop() throws Exception {
    lines.close();
    NameResolverRegistry.getDefaultRegistry().deregister(names);
    for (final RingChannel channel : channels) {
      channel.shutdownNow();
      RingFixture.assertTerminates(channel);
    }
    for (final Server server : servers) {
      server.shutdownNow();
      assertTrue(server.awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    }
  }

  private RingChannelBuilder builder() {
    return RingChannelBuilder.forTarget("ringfetch-test:///backends")
        .usePlaintext()
        .shmDirectory(directory)
        .spinTime(Duration.ZERO);
  }

  private RingChannel build(RingChannelBuilder builder) {
    final RingChannel channel = builder.build();
    channels.add(channel);
    return channel;
  }

  private void call(RingChannel channel, int calls) {
    for (int i = 0; i < calls; i++) {
      assertEquals(5, RingFixture.call(channel, 5).length);
    }
  }

  /** Asserts that each backend gets as many calls, as soon as gRPC is connected to all of them. */
  private void assertBalanced(RingChannel channel) {
    RingFixture.await(
        "a backend without calls",
        () -> {
          call(channel, 1);
          return served.stream().allMatch(calls -> calls.get() > 0);
        });
    served.forEach(calls -> calls.set(0));
    final long rings = channel.ringCalls();
    call(channel, 300);
    assertEquals(rings, channel.ringCalls());
    served.forEach(calls -> assertEquals(100, calls.get(), served::toString));
  }

  private void awaitRing(RingChannel channel) {
    RingFixture.await(
        "no ring: " + channel.transport(),
        () -> {
          call(channel, 1);
          return channel.transport().isRing();
        });
    final long before = channel.ringCalls();
    call(channel, 10);
    assertEquals(before + 10, channel.ringCalls());
  }

  @Test
  void aResolversRoundRobinIsForGrpcAndTheLogSaysSo() {
    names.resolve(BACKENDS, ROUND_ROBIN);
    final RingChannel channel = build(builder());
    assertBalanced(channel);
    assertEquals(0, channel.ringCalls());
    assertEquals(OVER_THREE, channel.transport().reason());
    assertTrue(channel.count(Counter.CHANNEL_CALLS_KEPT) >= 300);
    RingFixture.await("no line", () -> !lines.messages().isEmpty());
    assertEquals(
        List.of(
            "there is no ring to ringfetch-test:///backends, so calls go over gRPC: " + OVER_THREE),
        lines.messages());
  }

  @Test
  void aPolicyOverOneAddressIsForARing() {
    names.resolve(1, ROUND_ROBIN);
    awaitRing(build(builder()));
    names.resolve(1, null);
    awaitRing(build(builder().defaultLoadBalancingPolicy("round_robin")));
    awaitRing(build(builder().defaultServiceConfig(ROUND_ROBIN).requireFabric()));
    assertEquals(List.of(), lines.messages());
  }

  @Test
  void configsThatLeaveOneServerAreForARing() {
    names.resolve(BACKENDS, null);
    awaitRing(build(builder()));
    names.resolve(BACKENDS, Map.of());
    awaitRing(build(builder()));
    names.resolve(BACKENDS, PICK_FIRST);
    awaitRing(build(builder().defaultServiceConfig(ROUND_ROBIN)));
    names.resolve(BACKENDS, ROUND_ROBIN);
    awaitRing(build(builder().disableServiceConfigLookUp()));
  }

  @Test
  void aResolversMethodConfigIsForGrpc() {
    names.resolve(1, TIMEOUT);
    final RingChannel channel = build(builder());
    call(channel, 10);
    assertEquals(0, channel.ringCalls());
    assertEquals(
        "a service config with methodConfig is not carried by a ring",
        channel.transport().reason());
  }

  @Test
  void callsFollowWhatTheResolverSaysNext() {
    names.resolve(1, ROUND_ROBIN);
    final RingChannel channel = build(builder());
    awaitRing(channel);
    names.resolve(BACKENDS, ROUND_ROBIN);
    assertBalanced(channel);
    RingFixture.await(
        "a session is left",
        () -> servers.stream().allMatch(server -> ((RingServer) server).sessionCount() == 0));
    names.resolve(1, ROUND_ROBIN);
    awaitRing(channel);
  }

  @Test
  void whereARingIsRequiredCallsEndWithTheReason() {
    names.resolve(BACKENDS, ROUND_ROBIN);
    final RingChannel channel = build(builder().requireFabric());
    for (int i = 0; i < 3; i++) {
      final StatusRuntimeException e =
          assertThrows(StatusRuntimeException.class, () -> RingFixture.call(channel, 5));
      assertTrue(e.getMessage().contains(OVER_THREE), e.getMessage());
    }
    assertEquals(List.of(0L, 0L, 0L), served.stream().map(AtomicLong::get).toList());
  }

  /** The resolver of the targets of this test. */
  private final class Names extends NameResolverProvider {
    private final List<Answering> resolvers = new ArrayList<>();
    private int addresses;
    private Map<String, ?> config;

    /** Sets the answer of new resolvers and of those that there are. */
    synchronized void resolve(int count, Map<String, ?> raw) {
      addresses = count;
      config = raw;
      resolvers.forEach(Answering::answer);
    }

    @Override
    public synchronized NameResolver newNameResolver(URI target, NameResolver.Args args) {
      final Answering made = new Answering(args);
      resolvers.add(made);
      return made;
    }

    @Override
    public String getDefaultScheme() {
      return "ringfetch-test";
    }

    @Override
    protected boolean isAvailable() {
      return true;
    }

    @Override
    protected int priority() {
      return 0;
    }

    private final class Answering extends NameResolver {
      private final Args args;
      private Listener2 listener;

      Answering(Args args) {
        this.args = args;
      }

      @Override
      public String getServiceAuthority() {
        return "localhost";
      }

      @Override
      public void start(Listener2 told) {
        synchronized (Names.this) {
          listener = told;
          answer();
        }
      }

      /** Tells what the names resolve to, in the order of all other answers. */
      @SuppressWarnings("deprecation") // as resolvers of older versions do
      void answer() {
        if (listener == null) {
          return;
        }
        final ResolutionResult.Builder result =
            ResolutionResult.newBuilder()
                .setAddresses(
                    servers.stream()
                        .limit(addresses)
                        .map(
                            server ->
                                new InetSocketAddress(
                                    InetAddress.getLoopbackAddress(), server.getPort()))
                        .map(EquivalentAddressGroup::new)
                        .toList());
        if (config != null) {
          result.setServiceConfig(args.getServiceConfigParser().parseServiceConfig(config));
        }
        final ResolutionResult answer = result.build();
        final Listener2 told = listener;
        args.getSynchronizationContext().execute(() -> told.onResult(answer));
      }

      @Override
      public void shutdown() {
        synchronized (Names.this) {
          listener = null;
        }
      }
    }
  }
}
