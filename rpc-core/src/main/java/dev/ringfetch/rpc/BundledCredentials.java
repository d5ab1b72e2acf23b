package dev.ringfetch.rpc;

import io.grpc.CallCredentials;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.CompositeCallCredentials;
import io.grpc.CompositeChannelCredentials;
import io.grpc.MethodDescriptor;

/**
 * Interceptor that adds the call credentials which are bundled with a channel's credentials ({@link
 * CompositeChannelCredentials}) to every call, on a ring and over gRPC, before the call's own
 * credentials. The handshake gets none, since it concerns the connection alone.
 */
record BundledCredentials(CallCredentials bundled) implements ClientInterceptor {
  @Override
  public <ReqT, RespT> ClientCall<ReqT, RespT> interceptCall(
      MethodDescriptor<ReqT, RespT> method, CallOptions options, Channel next) {
    final CallCredentials own = options.getCredentials();
    return next.newCall(
        method,
        options.withCallCredentials(
            own == null ? bundled : new CompositeCallCredentials(bundled, own)));
  }
}
