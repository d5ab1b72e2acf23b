package dev.ringfetch.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Counters;
import io.grpc.BindableService;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerStreamTracer;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.protobuf.services.HealthStatusManager;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.grpc.client.autoconfigure.GrpcClientDefaultServiceConfigCustomizer;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.grpc.client.GlobalClientInterceptor;
import org.springframework.grpc.client.GrpcChannelBuilderCustomizer;
import org.springframework.grpc.client.GrpcChannelFactory;
import org.springframework.grpc.server.GlobalServerInterceptor;
import org.springframework.grpc.server.lifecycle.GrpcServerLifecycle;

/** A client and a server of Spring Boot, with the starter on the class path and no code for it. */
@Tag("frameworks")
@Timeout(120)
final class SpringBootTest {
  private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(60);

  /** Boot's default: it shuts the server down at once when that is over. */
  private static final long GRACE_NS = TimeUnit.SECONDS.toNanos(30);

  private static final String PASSWORD = "of-a-test";

  private static final AtomicInteger SENT = new AtomicInteger();
  private static final AtomicInteger RECEIVED = new AtomicInteger();
  private static final AtomicInteger CUSTOMIZED = new AtomicInteger();
  private static final AtomicInteger TRACED = new AtomicInteger();
  private static final AtomicInteger CUSTOMIZED_RINGS = new AtomicInteger();

  private final List<ConfigurableApplicationContext> contexts = new ArrayList<>();
  @TempDir private Path temporary;

  private Path directory;
  private int port;

  @BeforeEach
  void createDirectory() throws IOException {
    final Path shm = Path.of("/dev/shm");
    directory = Files.createTempDirectory(shm, "ringfetch-spring-");
    List.of(SENT, RECEIVED, CUSTOMIZED, TRACED, CUSTOMIZED_RINGS).forEach(count -> count.set(0));
  }

  @AfterEach
  void close() throws Exception {
    for (int i = contexts.size() - 1; i >= 0; i--) {
      contexts.get(i).close();
    }
    await("the rings have ended", () -> files() == 0);
    try (Stream<Path> tree = Files.walk(directory)) {
      for (final Path file : tree.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }

  private long files() {
    try (Stream<Path> tree = Files.walk(directory)) {
      return tree.filter(Files::isRegularFile).count();
    } catch (IOException | UncheckedIOException e) { // one is being deleted
      return 1;
    }
  }

  private static void await(String what, BooleanSupplier holds) {
    final long startNs = System.nanoTime();
    while (!holds.getAsBoolean()) {
      assertTrue(System.nanoTime() - startNs < DEADLINE_NS, what);
      Thread.onSpinWait();
    }
  }

  private ConfigurableApplicationContext run(Class<?> application, Map<String, Object> properties) {
    final ConfigurableApplicationContext context =
        new SpringApplicationBuilder(application)
            .web(WebApplicationType.NONE)
            .properties(properties)
            .properties("spring.main.banner-mode=off")
            .run();
    contexts.add(context);
    return context;
  }

  private int serve(Map<String, Object> properties) {
    final Map<String, Object> all = new HashMap<>(properties);
    all.put("spring.grpc.server.port", "0");
    all.put("spring.grpc.server.health.enabled", "false"); // the application has that service
    all.put("spring.grpc.server.ringfetch.shm-directory", directory.toString());
    port = run(ServerApplication.class, all).getBean(GrpcServerLifecycle.class).getPort();
    return port;
  }

  private HealthGrpc.HealthBlockingStub connect(int port, Map<String, Object> properties) {
    final Map<String, Object> all = new HashMap<>(properties);
    all.put("spring.grpc.client.channel.orders.target", "static://localhost:" + port);
    all.put("spring.grpc.client.channel.orders.ringfetch.shm-directory", directory.toString());
    return HealthGrpc.newBlockingStub(
        run(ClientApplication.class, all)
            .getBean(GrpcChannelFactory.class)
            .createChannel("orders"));
  }

  private static void check(HealthGrpc.HealthBlockingStub stub) {
    assertEquals(
        ServingStatus.SERVING, stub.check(HealthCheckRequest.getDefaultInstance()).getStatus());
  }

  private static long total(Counter counter) {
    return Counters.ofThisProcess().stream().mapToLong(counters -> counters.total(counter)).sum();
  }

  private static void awaitRing(HealthGrpc.HealthBlockingStub stub) {
    final long before = total(Counter.SERVER_CALLS_RING);
    await(
        "a call on a ring",
        () -> {
          check(stub);
          return total(Counter.SERVER_CALLS_RING) > before;
        });
  }

  private static void assertOnRing(HealthGrpc.HealthBlockingStub stub, int calls) {
    final long client = total(Counter.CHANNEL_CALLS_RING);
    final long server = total(Counter.SERVER_CALLS_RING);
    final int sent = SENT.get();
    final int received = RECEIVED.get();
    for (int i = 0; i < calls; i++) {
      check(stub);
    }
    assertEquals(calls, total(Counter.CHANNEL_CALLS_RING) - client, "calls of the client");
    assertEquals(calls, total(Counter.SERVER_CALLS_RING) - server, "calls at the server");
    assertEquals(calls, SENT.get() - sent, "calls that the client's interceptor has seen");
    assertEquals(calls, RECEIVED.get() - received, "calls that the server's interceptor has seen");
  }

  /** Returns the details of all subjects of a kind, as the client's Actuator has them. */
  private List<String> details(String kind) {
    return contexts.get(1).getBean(RingfetchEndpoint.class).entries().stream()
        .filter(entry -> entry.kind().equals(kind))
        .map(RingfetchEndpoint.Entry::detail)
        .toList();
  }

  @Test
  void callsGoOverRings() {
    final HealthGrpc.HealthBlockingStub stub = connect(serve(Map.of()), Map.of());
    awaitRing(stub);
    assertOnRing(stub, 20);
    assertEquals(1, CUSTOMIZED.get(), "a customizer of Netty's builder");
    assertEquals(1, CUSTOMIZED_RINGS.get(), "a customizer of a channel's rings");
    assertEquals(RECEIVED.get(), TRACED.get(), "calls that a tracer of the server has seen");
    final ConfigurableApplicationContext client = contexts.get(1);
    final List<String> backends = details("backend");
    assertEquals(1, backends.size(), backends::toString);
    assertTrue(backends.get(0).contains("READY, shm: "), backends::toString);
    final Health health =
        client.getBean("ringfetchHealthIndicator", HealthIndicator.class).health();
    assertEquals(Status.UP, health.getStatus());
    assertEquals(backends, List.copyOf(health.getDetails().values()));
  }

  /** The service config of beans and properties holds, and does not cost the rings. */
  @Test
  void aServiceConfigKeepsTheRings() {
    final HealthGrpc.HealthBlockingStub stub =
        connect(serve(Map.of()), Map.of("test.config", "true"));
    awaitRing(stub);
    ServerApplication.deadline = null;
    assertOnRing(stub, 5);
    assertNotNull(ServerApplication.deadline, "the timeout of the config");
  }

  @Test
  void aServerStopsAlthoughItsClientHasARing() {
    final HealthGrpc.HealthBlockingStub stub = connect(serve(Map.of()), Map.of());
    awaitRing(stub);
    final long startNs = System.nanoTime();
    contexts.get(0).close();
    assertTrue(
        System.nanoTime() - startNs < GRACE_NS, "the server has waited for its grace period");
    assertThrows(StatusRuntimeException.class, () -> check(stub));
  }

  @Test
  void anSslBundleKeepsTheRings() throws Exception {
    final Path keys = keys();
    final Map<String, Object> bundle = new HashMap<>();
    for (final String store : List.of("keystore", "truststore")) {
      final String prefix = "spring.ssl.bundle.jks.own." + store;
      bundle.put(prefix + ".location", "file:" + keys);
      bundle.put(prefix + ".password", PASSWORD);
    }
    final Map<String, Object> server = new HashMap<>(bundle);
    server.put("spring.grpc.server.ssl.bundle", "own");
    final Map<String, Object> client = new HashMap<>(bundle);
    client.put("spring.grpc.client.channel.orders.ssl.bundle", "own");
    final HealthGrpc.HealthBlockingStub stub = connect(serve(server), client);
    awaitRing(stub);
    assertOnRing(stub, 5);
    final HealthGrpc.HealthBlockingStub plain = connect(port, Map.of());
    assertThrows(StatusRuntimeException.class, () -> check(plain));
  }

  /** Returns a store with a key of localhost, and its certificate. */
  private Path keys() throws Exception {
    final Path store = temporary.resolve("keys.p12");
    final Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "server",
                "-keyalg",
                "EC",
                "-dname",
                "CN=localhost",
                "-ext",
                "SAN=dns:localhost",
                "-keystore",
                store.toString(),
                "-storetype",
                "PKCS12",
                "-storepass",
                PASSWORD)
            .inheritIO()
            .start();
    assertTrue(keytool.waitFor(DEADLINE_NS, TimeUnit.NANOSECONDS));
    assertEquals(0, keytool.exitValue());
    return store;
  }

  @Test
  void aServerWithoutRingsServesOverGrpc() {
    final long before = total(Counter.CHANNEL_CALLS_RING);
    final HealthGrpc.HealthBlockingStub stub =
        connect(serve(Map.of("spring.grpc.server.ringfetch.enabled", "false")), Map.of());
    await(
        "the reason",
        () -> {
          check(stub);
          return details("backend").stream()
              .anyMatch(detail -> detail.contains("the server has no Ringfetch"));
        });
    assertTrue(SENT.get() > 0);
    assertEquals(SENT.get(), RECEIVED.get());
    assertEquals(before, total(Counter.CHANNEL_CALLS_RING));
    assertEquals(List.of(), details("server"));
  }

  @Test
  void aChannelWithoutRingsIsServedOverGrpc() {
    final HealthGrpc.HealthBlockingStub stub =
        connect(
            serve(Map.of()),
            Map.of("spring.grpc.client.channel.orders.ringfetch.enabled", "false"));
    for (int i = 0; i < 5; i++) {
      check(stub);
    }
    assertEquals(5, SENT.get());
    assertEquals(5, RECEIVED.get());
    assertEquals(List.of(), contexts.get(1).getBean(RingfetchEndpoint.class).entries());
    assertEquals(0, files());
  }

  /** The server. */
  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class ServerApplication {
    static volatile Deadline deadline;

    @Bean
    BindableService health() {
      return new HealthStatusManager().getHealthService();
    }

    @Bean
    RingfetchServerCustomizer tracers() {
      return rings ->
          rings.addStreamTracerFactory(
              new ServerStreamTracer.Factory() {
                @Override
                public ServerStreamTracer newServerStreamTracer(String method, Metadata headers) {
                  TRACED.incrementAndGet();
                  return new ServerStreamTracer() {};
                }
              });
    }

    @Bean
    @GlobalServerInterceptor
    ServerInterceptor counting() {
      return new ServerInterceptor() {
        @Override
        public <ReqT, RespT> ServerCall.Listener<ReqT> interceptCall(
            ServerCall<ReqT, RespT> call, Metadata headers, ServerCallHandler<ReqT, RespT> next) {
          RECEIVED.incrementAndGet();
          deadline = Context.current().getDeadline();
          return next.startCall(call, headers);
        }
      };
    }
  }

  /** The client. */
  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class ClientApplication {
    @Bean
    @GlobalClientInterceptor
    ClientInterceptor counting() {
      return new ClientInterceptor() {
        @Override
        public <ReqT, RespT> ClientCall<ReqT, RespT> interceptCall(
            MethodDescriptor<ReqT, RespT> method, CallOptions options, Channel next) {
          SENT.incrementAndGet();
          return next.newCall(method, options);
        }
      };
    }

    @Bean
    RingfetchChannelCustomizer spinning() {
      return (target, rings) -> {
        if (target.equals("orders")) {
          rings.spinTime(Duration.ZERO);
          CUSTOMIZED_RINGS.incrementAndGet();
        }
      };
    }

    @Bean
    GrpcChannelBuilderCustomizer<NettyChannelBuilder> ofNetty(
        ObjectProvider<GrpcChannelFactory> channels) {
      return new GrpcChannelBuilderCustomizer<>() {
        @Override
        public void customize(String target, NettyChannelBuilder builder) {
          if (target.equals("orders")) {
            CUSTOMIZED.incrementAndGet();
            channels.getObject().createChannel("of-the-customizer"); // within this one
          }
        }
      };
    }

    @Bean
    GrpcClientDefaultServiceConfigCustomizer timeouts(Environment environment) {
      return (target, config) -> {
        if (environment.getProperty("test.config") != null) {
          config.put("methodConfig", List.of(Map.of("name", List.of(Map.of()), "timeout", "20s")));
        }
      };
    }
  }
}
