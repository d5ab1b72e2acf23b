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
 * Interceptor that adds call credentials of a channel to every call, before the call's own. Those
 * that are bundled with the channel's credentials ({@link CompositeChannelCredentials}) are for the
 * calls on a ring and over gRPC, not for the handshake; {@linkplain
 * RingChannelBuilder#sessionCredentials those of sessions} for the handshake and the calls over
 * gRPC.
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
