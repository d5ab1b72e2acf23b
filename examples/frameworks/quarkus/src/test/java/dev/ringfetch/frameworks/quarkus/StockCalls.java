package dev.ringfetch.frameworks.quarkus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Counters;
import dev.ringfetch.frameworks.quarkus.proto.Amount;
import dev.ringfetch.frameworks.quarkus.proto.Article;
import dev.ringfetch.frameworks.quarkus.proto.Stock;
import dev.ringfetch.frameworks.quarkus.proto.StockGrpc;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.quarkus.grpc.GlobalInterceptor;
import io.quarkus.grpc.GrpcClient;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Calls of an application of Quarkus: answers, threads of handlers, interceptors, spans and meters
 * are the same whatever carries the calls.
 */
@Tag("frameworks")
@Timeout(120)
abstract class StockCalls {
  private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(60);
  private static final int ROUNDS = 20;
  private static final String NAME = "a screw";

  private static final AtomicInteger SENT = new AtomicInteger();
  private static final AtomicInteger RECEIVED = new AtomicInteger();

  @GrpcClient("stock")
  StockGrpc.StockBlockingStub blocking;

  @GrpcClient("stock")
  Stock mutiny;

  @Inject InMemorySpanExporter exporter;
  @Inject MeterRegistry meters;

  /** Returns how many of so many calls are on a ring. */
  abstract int ringCalls(int calls);

  static void await(String what, BooleanSupplier holds) {
    final long startNs = System.nanoTime();
    while (!holds.getAsBoolean()) {
      assertTrue(System.nanoTime() - startNs < DEADLINE_NS, what);
      Thread.onSpinWait();
    }
  }

  /** Makes a call; returns the name of the thread that has answered. */
  String find() {
    final Amount amount =
        blocking
            .withDeadlineAfter(DEADLINE_NS, TimeUnit.NANOSECONDS)
            .find(Article.newBuilder().setName(NAME).build());
    assertEquals(NAME.length(), amount.getPieces());
    return amount.getThread();
  }

  private long timed(String meter) {
    return meters.find(meter).timers().stream().mapToLong(Timer::count).sum();
  }

  private void assertSpans(int calls) {
    await(
        "spans of " + calls + " calls", () -> exporter.getFinishedSpanItems().size() >= 2 * calls);
    final List<SpanData> spans = exporter.getFinishedSpanItems();
    assertEquals(2 * calls, spans.size(), spans::toString);
    final Map<String, SpanData> clients =
        spans.stream()
            .filter(span -> span.getKind() == SpanKind.CLIENT)
            .collect(Collectors.toMap(SpanData::getSpanId, Function.identity()));
    assertEquals(calls, clients.size());
    for (final SpanData span : spans) {
      if (span.getKind() == SpanKind.SERVER) {
        final SpanData caller = clients.remove(span.getParentSpanId());
        assertEquals(caller.getTraceId(), span.getTraceId());
        assertEquals(caller.getName(), span.getName());
      }
    }
    assertEquals(Map.of(), clients, "spans of a client without one of the server");
  }

  @BeforeEach
  void begin() {
    exporter.reset();
    SENT.set(0);
    RECEIVED.set(0);
  }

  @Test
  void applicationSeesTheSameWhateverCarriesTheCalls() {
    prepare();
    final int before = SENT.get();
    final long client = Counters.processTotal(Counter.CHANNEL_CALLS_RING);
    final long server = Counters.processTotal(Counter.SERVER_CALLS_RING);
    final Article article = Article.newBuilder().setName(NAME).build();
    final Duration limit = Duration.ofNanos(DEADLINE_NS);
    for (int i = 0; i < ROUNDS; i++) {
      final String handler = find();
      assertTrue(handler.startsWith("vert.x-eventloop-thread"), handler);
      final String worker = mutiny.reserve(article).await().atMost(limit).getThread();
      assertTrue(worker.startsWith("executor-thread"), worker);
      assertEquals(
          List.of(1, 2, 3, 4, 5, 6, 7),
          mutiny.count(article).map(Amount::getPieces).collect().asList().await().atMost(limit));
    }
    final int calls = SENT.get();
    assertEquals(3 * ROUNDS, calls - before, "calls that the client's interceptor has seen");
    assertEquals(calls, RECEIVED.get(), "calls that the server's interceptor has seen");
    assertSpans(calls);
    assertEquals(calls, timed("grpc.client.processing.duration"));
    await("meters of the server", () -> timed("grpc.server.processing.duration") >= calls);
    assertEquals(calls, timed("grpc.server.processing.duration"));
    final int onRings = ringCalls(calls - before);
    assertEquals(onRings, Counters.processTotal(Counter.CHANNEL_CALLS_RING) - client);
    assertEquals(onRings, Counters.processTotal(Counter.SERVER_CALLS_RING) - server);
  }

  /** Waits for what is to carry the calls. */
  abstract void prepare();

  /** Keeps the spans. */
  @ApplicationScoped
  static class Telemetry {
    @Produces
    @Singleton
    InMemorySpanExporter exporter() {
      return InMemorySpanExporter.create();
    }

    @Produces
    @Singleton
    MeterRegistry meters() {
      return new SimpleMeterRegistry();
    }
  }

  /** Counts calls of the client. */
  @GlobalInterceptor
  @ApplicationScoped
  static class Sent implements ClientInterceptor {
    @Override
    public <Q, P> ClientCall<Q, P> interceptCall(
        MethodDescriptor<Q, P> method, CallOptions options, Channel next) {
      SENT.incrementAndGet();
      return next.newCall(method, options);
    }
  }

  /** Counts calls of the server. */
  @GlobalInterceptor
  @ApplicationScoped
  static class Received implements ServerInterceptor {
    @Override
    public <Q, P> ServerCall.Listener<Q> interceptCall(
        ServerCall<Q, P> call, Metadata headers, ServerCallHandler<Q, P> next) {
      RECEIVED.incrementAndGet();
      return next.startCall(call, headers);
    }
  }
}
