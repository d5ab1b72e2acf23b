package dev.ringfetch.frameworks.netdevh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Counters;
import dev.ringfetch.rpc.RingChannelBuilder;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import net.devh.boot.grpc.client.channelfactory.GrpcChannelConfigurer;
import net.devh.boot.grpc.client.inject.GrpcClient;
import net.devh.boot.grpc.client.interceptor.GrpcGlobalClientInterceptor;
import net.devh.boot.grpc.server.event.GrpcServerStartedEvent;
import net.devh.boot.grpc.server.interceptor.GrpcGlobalServerInterceptor;
import net.devh.boot.grpc.server.serverfactory.GrpcServerConfigurer;
import net.devh.boot.grpc.server.service.GrpcService;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;

/** A client and a server of net.devh's starters, with the two customizers of frameworks.md. */
@Tag("frameworks")
@Timeout(120)
final class NetDevhTest {
  private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(60);
  private static final int CALLS = 20;

  private static final AtomicInteger SENT = new AtomicInteger();
  private static final AtomicInteger RECEIVED = new AtomicInteger();

  /** A server. */
  @Configuration
  @EnableAutoConfiguration
  @Import(Health.class)
  static class ServerApplication {
    private int port;

    @EventListener
    void started(GrpcServerStartedEvent event) {
      port = event.getPort();
    }

    @Bean
    GrpcServerConfigurer rings() {
      return builder -> RingServerBuilder.over(builder).attach();
    }

    @GrpcGlobalServerInterceptor
    ServerInterceptor received() {
      return new ServerInterceptor() {
        @Override
        public <Q, P> ServerCall.Listener<Q> interceptCall(
            ServerCall<Q, P> call, Metadata headers, ServerCallHandler<Q, P> next) {
          RECEIVED.incrementAndGet();
          return next.startCall(call, headers);
        }
      };
    }
  }

  /** The service. */
  @GrpcService
  static class Health extends HealthGrpc.HealthImplBase {
    @Override
    public void check(HealthCheckRequest request, StreamObserver<HealthCheckResponse> replies) {
      replies.onNext(HealthCheckResponse.newBuilder().setStatus(ServingStatus.SERVING).build());
      replies.onCompleted();
    }
  }

  /** A client. */
  @Configuration
  @EnableAutoConfiguration
  @Import(Caller.class)
  static class ClientApplication {
    @Bean
    GrpcChannelConfigurer rings() {
      return (builder, name) -> RingChannelBuilder.over(builder, name).attach();
    }

    @GrpcGlobalClientInterceptor
    ClientInterceptor sent() {
      return new ClientInterceptor() {
        @Override
        public <Q, P> ClientCall<Q, P> interceptCall(
            MethodDescriptor<Q, P> method, CallOptions options, Channel next) {
          SENT.incrementAndGet();
          return next.newCall(method, options);
        }
      };
    }
  }

  /** The bean that has the stub. */
  @Component
  static class Caller {
    @GrpcClient("health")
    private HealthGrpc.HealthBlockingStub stub;

    private ServingStatus call() {
      return stub.withDeadlineAfter(DEADLINE_NS, TimeUnit.NANOSECONDS)
          .check(HealthCheckRequest.getDefaultInstance())
          .getStatus();
    }
  }

  private static ConfigurableApplicationContext run(Class<?> application, String... properties) {
    return new SpringApplicationBuilder(application)
        .web(WebApplicationType.NONE)
        .properties(properties)
        .properties("spring.main.banner-mode=off")
        .run();
  }

  private static long count(Counter counter) {
    return Counters.ofThisProcess().stream().mapToLong(counters -> counters.total(counter)).sum();
  }

  @Test
  void callsAreOnTheRingAndInterceptorsSeeEachOnce() {
    try (ConfigurableApplicationContext server =
            run(
                ServerApplication.class,
                "grpc.server.port=0",
                "grpc.server.health-service-enabled=false");
        ConfigurableApplicationContext client =
            run(
                ClientApplication.class,
                "grpc.server.port=-1",
                "grpc.client.health.address=static://localhost:"
                    + server.getBean(ServerApplication.class).port,
                "grpc.client.health.negotiation-type=plaintext")) {
      final Caller caller = client.getBean(Caller.class);
      int calls = 0;
      final long startNs = System.nanoTime();
      while (count(Counter.CHANNEL_SESSIONS_OPENED) == 0) { // the first go over gRPC
        assertTrue(System.nanoTime() - startNs < DEADLINE_NS, "a ring opens");
        assertEquals(ServingStatus.SERVING, caller.call());
        calls++;
      }
      final long before = count(Counter.SERVER_CALLS_RING);
      for (int i = 0; i < CALLS; i++) {
        assertEquals(ServingStatus.SERVING, caller.call());
      }
      assertEquals(before + CALLS, count(Counter.SERVER_CALLS_RING));
      assertEquals(calls + CALLS, SENT.get());
      assertEquals(calls + CALLS, RECEIVED.get());
    }
  }
}
