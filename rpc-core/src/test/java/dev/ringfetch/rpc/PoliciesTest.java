package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.CallOptions;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.NameResolverRegistry;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * gRPC's policies, on a channel of gRPC's own and on one with rings: after the same events both
 * have the same states, the same shares of calls by server, and the same failures.
 *
 * <p>The policies of grpc-xds are not compared: that artifact would bring its name resolver and ten
 * policies into all tests of this module. Of those, {@code least_request} picks at random, so its
 * shares differ from run to run.
 */
final class PoliciesTest {
  private static final int SERVERS = 3;
  private static final int CALLS = 60; // a multiple of the number of servers at each step

  /** The policies, each with its config. */
  enum Policy {
    PICK_FIRST(Map.of("pick_first", Map.of())),
    ROUND_ROBIN(Map.of("round_robin", Map.of())),
    OUTLIER_DETECTION(
        Map.of(
            "outlier_detection_experimental",
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
                List.of(Map.of("round_robin", Map.of())))));

    @SuppressWarnings("ImmutableEnumChecker") // it is: Map.of
    private final Map<String, ?> config;

    Policy(Map<String, ?> config) {
      this.config = Map.of("loadBalancingConfig", List.of(config));
    }

    boolean usesAll() {
      return this != PICK_FIRST;
    }
  }

  /** The events of a comparison. */
  private interface Script {
    void run(Stage stage) throws Exception;
  }

  @TempDir private Path directory;

  private final Names names = new Names();

  @BeforeEach
  void register() {
    NameResolverRegistry.getDefaultRegistry().register(names);
  }

  @AfterEach
  void deregister() {
    NameResolverRegistry.getDefaultRegistry().deregister(names);
  }

  private void compare(Map<String, ?> config, Script script) throws Exception {
    compare(config, TimeUnit.MINUTES.toSeconds(30), script);
  }

  /** Runs a script over gRPC alone and over rings. */
  private void compare(Map<String, ?> config, long idleSeconds, Script script) throws Exception {
    final List<String> grpc =
        run(
            NettyChannelBuilder.forTarget(Names.TARGET).idleTimeout(idleSeconds, TimeUnit.SECONDS),
            config,
            script);
    final List<String> rings =
        run(
            RingChannelBuilder.forTarget(Names.TARGET)
                .shmDirectory(directory)
                .spinTime(Duration.ZERO)
                .idleTimeout(idleSeconds, TimeUnit.SECONDS),
            config,
            script);
    assertEquals(String.join("\n", grpc), String.join("\n", rings));
  }

  private List<String> run(ManagedChannelBuilder<?> builder, Map<String, ?> config, Script script)
      throws Exception {
    final Servers servers = new Servers(directory);
    try {
      servers.add(SERVERS);
      names.resolve(servers.ports(), null);
      final ManagedChannel channel =
          builder
              .usePlaintext()
              .directExecutor() // of the callbacks that tell states: none is missed
              .defaultServiceConfig(config)
              .build();
      final Stage stage = new Stage(servers, channel);
      try {
        stage.watch();
        script.run(stage);
        channel.shutdown();
        stage.awaitState(ConnectivityState.SHUTDOWN);
      } finally {
        channel.shutdownNow();
        assertTrue(channel.awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
      }
      return stage.seen();
    } finally {
      servers.stop();
    }
  }

  /** A channel with its servers, and what it has shown so far. */
  private static final class Stage {
    private final Servers servers;
    private final List<Integer> ports;
    private final ManagedChannel channel;
    private final List<String> seen = Collections.synchronizedList(new ArrayList<>());

    Stage(Servers servers, ManagedChannel channel) {
      this.servers = servers;
      this.ports = servers.ports();
      this.channel = channel;
    }

    List<String> seen() {
      return List.copyOf(seen);
    }

    /** Notes the state and all that follow. */
    void watch() {
      final ConnectivityState state = channel.getState(false);
      seen.add(state.toString());
      if (state != ConnectivityState.SHUTDOWN) {
        channel.notifyWhenStateChanged(state, this::watch);
      }
    }

    void awaitState(ConnectivityState state) {
      RingFixture.await(state.toString(), () -> channel.getState(false) == state);
    }

    private Future<byte[]> send() {
      return ClientCalls.futureUnaryCall(
          channel.newCall(
              Bytes.METHOD,
              CallOptions.DEFAULT.withDeadlineAfter(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS)),
          new byte[5]);
    }

    private void call() {
      assertEquals(
          5,
          ClientCalls.blockingUnaryCall(
                  channel,
                  Bytes.METHOD,
                  CallOptions.DEFAULT.withDeadlineAfter(
                      TransportHarness.TIMEOUT_S, TimeUnit.SECONDS),
                  new byte[5])
              .length);
    }

    private long onRings() {
      return channel instanceof RingChannel ring ? ring.ringCalls() : 0;
    }

    private List<Long> since(List<Long> before) {
      final List<Long> after = servers.served();
      return IntStream.range(0, before.size()).mapToObj(i -> after.get(i) - before.get(i)).toList();
    }

    /**
     * Makes calls until all are answered by these servers, each over its ring, and notes shares.
     */
    void settle(String event, Set<Integer> expected) {
      RingFixture.await(
          event + ": calls of " + expected,
          () -> {
            channel.resetConnectBackoff();
            final List<Long> before = servers.served();
            final long ringsBefore = onRings();
            for (int i = 0; i < 4 * SERVERS; i++) {
              try {
                call();
              } catch (StatusRuntimeException e) {
                return false;
              }
            }
            final List<Long> calls = since(before);
            return IntStream.range(0, SERVERS)
                    .filter(i -> calls.get(i) > 0)
                    .boxed()
                    .collect(Collectors.toSet())
                    .equals(expected)
                && (!(channel instanceof RingChannel) || onRings() == ringsBefore + 4 * SERVERS);
          });
      final List<Long> before = servers.served();
      final long ringsBefore = onRings();
      for (int i = 0; i < CALLS; i++) {
        call();
      }
      if (channel instanceof RingChannel) {
        assertEquals(ringsBefore + CALLS, onRings(), event);
      }
      seen.add(event + ": " + since(before));
    }

    /** Notes how a call fails. */
    void fail(String event) {
      final StatusRuntimeException e = assertThrows(StatusRuntimeException.class, this::call);
      seen.add(
          event
              + ": "
              + e.getStatus().getCode()
              + " "
              + String.valueOf(e.getStatus().getDescription())
                  .lines()
                  .findFirst()
                  .orElse("")
                  .replaceAll(":\\d+", ":PORT"));
    }

    void restart(int... stopped) throws Exception {
      for (final int index : stopped) {
        servers.restart(index, ports.get(index));
      }
    }
  }

  @Tag("slow")
  @ParameterizedTest
  @EnumSource
  void serversComeAndGo(Policy policy) throws Exception {
    final boolean all = policy.usesAll();
    compare(
        policy.config,
        stage -> {
          stage.settle("three servers", all ? Set.of(0, 1, 2) : Set.of(0));
          stage.servers.stop(0);
          stage.settle("the first has died", all ? Set.of(1, 2) : Set.of(1));
          stage.restart(0);
          stage.settle("it is back", all ? Set.of(0, 1, 2) : Set.of(1));
          names.resolve(List.of(stage.ports.get(0), stage.ports.get(2)), null);
          stage.settle("the second has lost its name", all ? Set.of(0, 2) : Set.of(0));
          names.resolve(stage.ports, null);
          stage.settle("it has its name again", all ? Set.of(0, 1, 2) : Set.of(0));
          stage.channel.enterIdle();
          stage.awaitState(ConnectivityState.IDLE);
          stage.settle("after a rest", all ? Set.of(0, 1, 2) : Set.of(0));
          for (int i = 0; i < SERVERS; i++) {
            stage.servers.stop(i);
          }
          RingFixture.await( // asked to connect again once it has noticed the last one's end
              "all connections fail",
              () -> stage.channel.getState(true) == ConnectivityState.TRANSIENT_FAILURE);
          stage.fail("all have died");
          stage.restart(2, 1, 0);
          stage.settle("all are back", all ? Set.of(0, 1, 2) : Set.of(0));
        });
  }

  /** The first server accepts connections and never answers, until it dies. */
  @ParameterizedTest
  @EnumSource
  void aServerThatIsBeingConnectedFails(Policy policy) throws Exception {
    compare(
        policy.config,
        stage -> {
          final ServerSocket mute = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
          final List<Integer> ports = new ArrayList<>(stage.ports);
          ports.add(0, mute.getLocalPort());
          names.resolve(ports, null);
          final Future<byte[]> first = stage.send();
          if (policy.usesAll()) {
            stage.settle("one is being connected", Set.of(0, 1, 2));
          } else {
            stage.awaitState(ConnectivityState.CONNECTING);
            assertFalse(first.isDone());
          }
          mute.close();
          assertEquals(5, first.get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS).length);
          stage.settle("it has died", policy.usesAll() ? Set.of(0, 1, 2) : Set.of(0));
        });
  }

  @Test
  void anUnhealthyServerGetsNoCalls() throws Exception {
    compare(
        Map.of(
            "loadBalancingConfig",
            List.of(Map.of("round_robin", Map.of())),
            "healthCheckConfig",
            Map.of("serviceName", "contract")),
        stage -> {
          for (int i = 0; i < SERVERS; i++) {
            stage.servers.health(i).setStatus("contract", ServingStatus.SERVING);
          }
          stage.settle("all serve", Set.of(0, 1, 2));
          stage.servers.health(1).setStatus("contract", ServingStatus.NOT_SERVING);
          stage.settle("the second does not", Set.of(0, 2));
          stage.servers.health(0).setStatus("contract", ServingStatus.NOT_SERVING);
          stage.servers.health(2).setStatus("contract", ServingStatus.NOT_SERVING);
          stage.awaitState(ConnectivityState.TRANSIENT_FAILURE);
          stage.fail("none serves");
          for (int i = 0; i < SERVERS; i++) {
            stage.servers.health(i).setStatus("contract", ServingStatus.SERVING);
          }
          stage.settle("all serve again", Set.of(0, 1, 2));
        });
  }

  @Test
  void aServerThatFailsIsEjected() throws Exception {
    compare(
        Policy.OUTLIER_DETECTION.config,
        stage -> {
          stage.settle("all succeed", Set.of(0, 1, 2));
          stage.servers.fail(1);
          stage.settle("the second fails", Set.of(0, 2));
          stage.servers.stop(0);
          stage.settle("and the first dies", Set.of(2));
        });
  }

  @Tag("slow")
  @ParameterizedTest
  @EnumSource
  void aChannelWithoutCallsIsIdle(Policy policy) throws Exception {
    compare(
        policy.config,
        1,
        stage -> {
          stage.settle("at first", policy.usesAll() ? Set.of(0, 1, 2) : Set.of(0));
          stage.awaitState(ConnectivityState.IDLE);
          stage.settle("after a rest", policy.usesAll() ? Set.of(0, 1, 2) : Set.of(0));
        });
  }
}
