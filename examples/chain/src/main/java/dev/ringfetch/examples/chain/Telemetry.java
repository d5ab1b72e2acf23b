package dev.ringfetch.examples.chain;

import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.CommandLoop;
import io.grpc.opentelemetry.GrpcOpenTelemetry;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.util.Collection;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The tracing of a process, by gRPC's own plug-in for OpenTelemetry. It samples what the caller
 * samples, and keeps the spans until the demo asks for them, where an application exports them.
 */
final class Telemetry implements SpanExporter {
  /** Flags of a JVM whose tracing is to work: gRPC has it behind a switch. */
  static final List<String> FLAGS = List.of("-DGRPC_EXPERIMENTAL_ENABLE_OTEL_TRACING=true");

  private final Queue<SpanData> spans = new ConcurrentLinkedQueue<>();

  /** Registers it for all channels and servers that this process builds from now on. */
  Telemetry register() {
    GrpcOpenTelemetry.newBuilder()
        .sdk(
            OpenTelemetrySdk.builder()
                .setTracerProvider(
                    SdkTracerProvider.builder()
                        .setSampler(Sampler.parentBased(Sampler.alwaysOff()))
                        .addSpanProcessor(SimpleSpanProcessor.create(this))
                        .build())
                .setPropagators(ContextPropagators.create(W3CTraceContextPropagator.getInstance()))
                .build())
        .disableAllMetrics()
        .build()
        .registerGlobal();
    return this;
  }

  /** Adds the command {@code spans} to a process: those of a trace, as {@link Trace} reads them. */
  CommandLoop addTo(CommandLoop loop) {
    return loop.on("spans", arguments -> answer(arguments.get(0)));
  }

  private Answer answer(String traceId) {
    final Answer answer = new Answer();
    for (final SpanData span : spans) {
      if (span.getTraceId().equals(traceId)) {
        answer.with(
            span.getSpanId(),
            String.join(
                " ",
                span.getParentSpanId(),
                Long.toString(span.getEndEpochNanos() - span.getStartEpochNanos()),
                span.getName()));
      }
    }
    return answer;
  }

  @Override
  public CompletableResultCode export(Collection<SpanData> ended) {
    spans.addAll(ended);
    return CompletableResultCode.ofSuccess();
  }

  @Override
  public CompletableResultCode flush() {
    return CompletableResultCode.ofSuccess();
  }

  @Override
  public CompletableResultCode shutdown() {
    return CompletableResultCode.ofSuccess();
  }
}
