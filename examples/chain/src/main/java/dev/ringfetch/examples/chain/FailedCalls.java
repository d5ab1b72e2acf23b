package dev.ringfetch.examples.chain;

import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The number of a server's calls that were cancelled, or that the service ended with an error: at a
 * deadline it is a race which comes first.
 */
final class FailedCalls implements ServerInterceptor {
  private final AtomicLong count = new AtomicLong();

  /** How many so far. */
  long count() {
    return count.get();
  }

  @Override
  public <Q, P> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, P> call, Metadata headers, ServerCallHandler<Q, P> next) {
    final AtomicBoolean failed = new AtomicBoolean();
    final ServerCall<Q, P> watched =
        new SimpleForwardingServerCall<>(call) {
          @Override
          public void close(Status status, Metadata trailers) {
            if (!status.isOk()) {
              fail(failed);
            }
            super.close(status, trailers);
          }
        };
    return new SimpleForwardingServerCallListener<>(next.startCall(watched, headers)) {
      @Override
      public void onCancel() {
        fail(failed);
        super.onCancel();
      }
    };
  }

  private void fail(AtomicBoolean failed) {
    if (failed.compareAndSet(false, true)) {
      count.incrementAndGet();
    }
  }
}
