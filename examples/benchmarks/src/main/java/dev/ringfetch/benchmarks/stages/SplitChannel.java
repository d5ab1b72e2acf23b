package dev.ringfetch.benchmarks.stages;

import dev.ringfetch.call.ClientConnection;
import dev.ringfetch.call.ClientLimits;
import dev.ringfetch.call.UnaryClientCall;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;

/**
 * Unary calls over one session, whose choice of a transport is made. It takes stubs that name an
 * executor, as blocking ones do.
 */
final class SplitChannel extends Channel {
  private static final ClientLimits LIMITS = new ClientLimits(4 * 1024 * 1024, 8 * 1024);

  private final ClientConnection connection;
  private final Split split;
  private final MethodDescriptor<?, ?> replacement;

  /**
   * Creates it.
   *
   * @param replacement of the method of this name.
   */
  SplitChannel(ClientConnection connection, Split split, MethodDescriptor<?, ?> replacement) {
    this.connection = connection;
    this.split = split;
    this.replacement = replacement;
  }

  @Override
  public <ReqT, RespT> ClientCall<ReqT, RespT> newCall(
      MethodDescriptor<ReqT, RespT> method, CallOptions options) {
    split.ended(Stage.stub);
    @SuppressWarnings("unchecked") // the name of a method says of what types it is
    final MethodDescriptor<ReqT, RespT> called =
        method.getFullMethodName().equals(replacement.getFullMethodName())
            ? (MethodDescriptor<ReqT, RespT>) replacement
            : method;
    return new Call<>(called, options);
  }

  @Override
  public String authority() {
    return "one-thread";
  }

  private final class Call<ReqT, RespT> extends UnaryClientCall<ReqT, RespT> {
    Call(MethodDescriptor<ReqT, RespT> method, CallOptions options) {
      super(method, options, options.getExecutor());
    }

    @Override
    public void start(Listener<RespT> listener, Metadata headers) {
      start(listener, headers, connection, LIMITS);
    }
  }
}
