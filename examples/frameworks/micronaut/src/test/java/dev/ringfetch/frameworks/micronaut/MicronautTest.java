package dev.ringfetch.frameworks.micronaut;

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
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerBuilder;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.StreamObserver;
import io.micronaut.context.ApplicationContext;
import io.micronaut.context.annotation.Bean;
import io.micronaut.context.annotation.Factory;
import io.micronaut.context.event.BeanCreatedEvent;
import io.micronaut.context.event.BeanCreatedEventListener;
import io.micronaut.grpc.annotation.GrpcChannel;
import io.micronaut.grpc.server.GrpcEmbeddedServer;
import jakarta.inject.Singleton;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A client and a server of Micronaut, with the two listeners of frameworks.md. */
@Tag("frameworks")
@Timeout(120)
final class MicronautTest {
  private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(60);
  private static final int CALLS = 20;

  private static final AtomicInteger SENT = new AtomicInteger();
  private static final AtomicInteger RECEIVED = new AtomicInteger();

  /** Attaches rings to channels. */
  @Singleton
  static class ChannelRings implements BeanCreatedEventListener<NettyChannelBuilder> {
    @Override
    public NettyChannelBuilder onCreated(BeanCreatedEvent<NettyChannelBuilder> event) {
      RingChannelBuilder.over(event.getBean(), "health").attach();
      return event.getBean();
    }
  }

  /** Attaches rings to the server. */
  @Singleton
  static class ServerRings implements BeanCreatedEventListener<ServerBuilder<?>> {
    @Override
    public ServerBuilder<?> onCreated(BeanCreatedEvent<ServerBuilder<?>> event) {
      RingServerBuilder.over(event.getBean()).attach();
      return event.getBean();
    }
  }

  /** The service. */
  @Singleton
  static class Health extends HealthGrpc.HealthImplBase {
    @Override
    public void check(HealthCheckRequest request, StreamObserver<HealthCheckResponse> replies) {
      replies.onNext(HealthCheckResponse.newBuilder().setStatus(ServingStatus.SERVING).build());
      replies.onCompleted();
    }
  }

  /** Counts calls of the client. */
  @Singleton
  static class Sent implements ClientInterceptor {
    @Override
    public <Q, P> ClientCall<Q, P> interceptCall(
        MethodDescriptor<Q, P> method, CallOptions options, Channel next) {
      SENT.incrementAndGet();
      return next.newCall(method, options);
    }
  }

  /** Counts calls of the server. */
  @Singleton
  static class Received implements ServerInterceptor {
    @Override
    public <Q, P> ServerCall.Listener<Q> interceptCall(
        ServerCall<Q, P> call, Metadata headers, ServerCallHandler<Q, P> next) {
      RECEIVED.incrementAndGet();
      return next.startCall(call, headers);
    }
  }

  /** The stub, as an application gets it. */
  @Factory
  static class Stubs {
    @Bean
    HealthGrpc.HealthBlockingStub stub(@GrpcChannel("health") ManagedChannel channel) {
      return HealthGrpc.newBlockingStub(channel);
    }
  }

  private static ServingStatus call(HealthGrpc.HealthBlockingStub stub) {
    return stub.withDeadlineAfter(DEADLINE_NS, TimeUnit.NANOSECONDS)
        .check(HealthCheckRequest.getDefaultInstance())
        .getStatus();
  }

  private static long count(Counter counter) {
    return Counters.ofThisProcess().stream().mapToLong(counters -> counters.total(counter)).sum();
  }

  @Test
  void callsAreOnTheRingAndInterceptorsSeeEachOnce() {
    try (GrpcEmbeddedServer server =
            ApplicationContext.run(
                GrpcEmbeddedServer.class,
                Map.of("grpc.server.port", 0, "grpc.health.enabled", false));
        ApplicationContext client =
            ApplicationContext.run(
                Map.of(
                    "grpc.server.enabled",
                    false,
                    "grpc.channels.health.address",
                    "localhost:" + server.getPort(),
                    "grpc.channels.health.plaintext",
                    true))) {
      final HealthGrpc.HealthBlockingStub stub =
          client.getBean(HealthGrpc.HealthBlockingStub.class);
      int calls = 0;
      final long startNs = System.nanoTime();
      while (count(Counter.CHANNEL_SESSIONS_OPENED) == 0) { // the first go over gRPC
        assertTrue(System.nanoTime() - startNs < DEADLINE_NS, "a ring opens");
        assertEquals(ServingStatus.SERVING, call(stub));
        calls++;
      }
      final long before = count(Counter.SERVER_CALLS_RING);
      for (int i = 0; i < CALLS; i++) {
        assertEquals(ServingStatus.SERVING, call(stub));
      }
      assertEquals(before + CALLS, count(Counter.SERVER_CALLS_RING));
      assertEquals(calls + CALLS, SENT.get());
      assertEquals(calls + CALLS, RECEIVED.get());
    }
  }
}
