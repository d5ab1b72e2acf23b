package dev.ringfetch.index.client;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.function.Function;

/**
 * An interceptor that runs a step before each call, which fails if the step returns a status.
 *
 * @param step gets the bare name of the method.
 */
record CallSteps(Function<String, Status> step) implements ClientInterceptor {
  @Override
  public <Q, R> ClientCall<Q, R> interceptCall(
      MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
    final Status refused = step.apply(method.getBareMethodName());
    return refused == null ? next.newCall(method, options) : new RefusedCall<>(refused);
  }

  private static final class RefusedCall<Q, R> extends ClientCall<Q, R> {
    private final Status status;

    RefusedCall(Status status) {
      this.status = status;
    }

    @Override
    public void start(Listener<R> listener, Metadata headers) {
      listener.onClose(status, new Metadata());
    }

    @Override
    public void request(int count) {}

    @Override
    public void cancel(String message, Throwable cause) {}

    @Override
    public void halfClose() {}

    @Override
    public void sendMessage(Q message) {}
  }
}
