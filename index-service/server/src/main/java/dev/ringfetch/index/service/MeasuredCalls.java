package dev.ringfetch.index.service;

import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import java.util.concurrent.atomic.AtomicBoolean;

/** The part of a service that measures how long its calls take. Thread-safe. */
final class MeasuredCalls implements ServerInterceptor {
  private final CallMetrics metrics;

  private MeasuredCalls(CallMetrics metrics) {
    this.metrics = metrics;
  }

  /** Returns the service with calls that are measured, or the service itself without metrics. */
  static ServerServiceDefinition of(ServerServiceDefinition service, CallMetrics metrics) {
    return metrics == CallMetrics.NONE
        ? service
        : ServerInterceptors.intercept(service, new MeasuredCalls(metrics));
  }

  @Override
  public <ReqT, RespT> ServerCall.Listener<ReqT> interceptCall(
      ServerCall<ReqT, RespT> call, Metadata headers, ServerCallHandler<ReqT, RespT> next) {
    final Measured<ReqT, RespT> measured = new Measured<>(call, metrics);
    return new SimpleForwardingServerCallListener<>(next.startCall(measured, headers)) {
      @Override
      public void onCancel() {
        measured.end(Status.Code.CANCELLED);
        super.onCancel();
      }
    };
  }

  private static final class Measured<ReqT, RespT> extends SimpleForwardingServerCall<ReqT, RespT> {
    private final CallMetrics metrics;
    private final long beginNs = System.nanoTime();
    private final AtomicBoolean hasEnded = new AtomicBoolean(); // a cancellation may come beside it

    Measured(ServerCall<ReqT, RespT> call, CallMetrics metrics) {
      super(call);
      this.metrics = metrics;
    }

    @Override
    public void close(Status status, Metadata trailers) {
      end(status.getCode());
      super.close(status, trailers);
    }

    void end(Status.Code code) {
      if (hasEnded.compareAndSet(false, true)) {
        metrics.onEnd(getMethodDescriptor(), code, System.nanoTime() - beginNs);
      }
    }
  }
}
