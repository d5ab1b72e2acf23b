package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.opentelemetry.GrpcOpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.metrics.SdkMeterProvider;
import io.opentelemetry.sdk.metrics.data.HistogramPointData;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.testing.exporter.InMemoryMetricReader;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** OpenTelemetry as an application has it, and what gRPC has told it of calls that have ended. */
final class Telemetry {
  private static final AttributeKey<String> STATUS = AttributeKey.stringKey("grpc.status");
  private static final AttributeKey<String> METHOD = AttributeKey.stringKey("grpc.method");
  private static final String NO_METHOD = "other"; // of a service that the server does not have

  private static final List<String> DURATIONS =
      List.of(
          "grpc.client.attempt.duration", "grpc.client.call.duration", "grpc.server.call.duration");

  private final InMemoryMetricReader reader = InMemoryMetricReader.create();
  private final InMemorySpanExporter spans = InMemorySpanExporter.create();
  private final GrpcOpenTelemetry grpc =
      GrpcOpenTelemetry.newBuilder()
          .sdk(
              OpenTelemetrySdk.builder()
                  .setMeterProvider(SdkMeterProvider.builder().registerMetricReader(reader).build())
                  .setTracerProvider(
                      SdkTracerProvider.builder()
                          .addSpanProcessor(SimpleSpanProcessor.create(spans))
                          .build())
                  .setPropagators(ContextPropagators.noop())
                  .build())
          .build();

  GrpcOpenTelemetry grpc() {
    return grpc;
  }

  /**
   * Returns how many calls have ended with which status, by metric. It leaves out the streams of
   * sessions that a server without rings sees: it refuses them, or the client cancels them.
   */
  Map<String, Map<String, Long>> ended() {
    final Map<String, Map<String, Long>> ended = new TreeMap<>();
    for (final MetricData metric : reader.collectAllMetrics()) {
      if (DURATIONS.contains(metric.getName())) {
        final Map<String, Long> counts = new TreeMap<>();
        for (final HistogramPointData point : metric.getHistogramData().getPoints()) {
          if (!NO_METHOD.equals(point.getAttributes().get(METHOD))) {
            counts.merge(point.getAttributes().get(STATUS), point.getCount(), Long::sum);
          }
        }
        ended.put(metric.getName(), counts);
      }
    }
    return ended;
  }

  /** Waits for the ends at both sides: a server is told of one when it likes. */
  Map<String, Map<String, Long>> awaitEnded(long calls) {
    final long startNs = System.nanoTime();
    while (true) {
      final Map<String, Map<String, Long>> ended = ended();
      if (DURATIONS.stream()
          .allMatch(
              name ->
                  ended.getOrDefault(name, Map.of()).values().stream().mapToLong(n -> n).sum()
                      >= calls)) {
        return ended;
      }
      assertTrue(
          System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(TransportHarness.TIMEOUT_S),
          () -> "ended so far: " + ended);
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
    }
  }

  /** Bytes of messages that a metric has counted. */
  long bytes(String name) {
    return (long)
        reader.collectAllMetrics().stream()
            .filter(metric -> metric.getName().equals(name))
            .flatMap(metric -> metric.getHistogramData().getPoints().stream())
            .mapToDouble(HistogramPointData::getSum)
            .sum();
  }

  /** Names of the spans that have ended, and how many there are of each. */
  Map<String, Integer> spans() {
    final Map<String, Integer> names = new TreeMap<>();
    for (final SpanData span : spans.getFinishedSpanItems()) {
      names.merge(span.getName(), 1, Integer::sum);
    }
    return names;
  }
}
