package dev.ringfetch.rpc;

import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;

/** A user's interceptor for calls over gRPC, bypassed for the calls that open sessions. */
record SessionInterceptor(ServerInterceptor user) implements ServerInterceptor {
  @Override
  public <ReqT, RespT> ServerCall.Listener<ReqT> interceptCall(
      ServerCall<ReqT, RespT> call, Metadata headers, ServerCallHandler<ReqT, RespT> next) {
    final String service = call.getMethodDescriptor().getServiceName();
    return SessionService.NAME.equals(service)
        ? next.startCall(call, headers)
        : user.interceptCall(call, headers, next);
  }
}
