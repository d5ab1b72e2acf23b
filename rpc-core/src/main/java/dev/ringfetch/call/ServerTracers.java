package dev.ringfetch.call;

import io.grpc.Attributes;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerStreamTracer;
import java.util.List;

/** The tracers of a server's call. */
final class ServerTracers extends Tracers {
  private final List<ServerStreamTracer> tracers;

  private ServerTracers(List<ServerStreamTracer> tracers) {
    super(tracers);
    this.tracers = tracers;
  }

  static ServerTracers of(
      List<ServerStreamTracer.Factory> factories, String fullMethodName, Metadata headers) {
    return new ServerTracers(
        factories.stream()
            .map(factory -> factory.newServerStreamTracer(fullMethodName, headers))
            .toList());
  }

  /** Returns the context of the call, as changed by the tracers. */
  Context filter(Context context) {
    Context filtered = context;
    for (final ServerStreamTracer tracer : tracers) {
      filtered = tracer.filterContext(filtered);
    }
    return filtered;
  }

  <ReqT, RespT> void started(ServerCall<ReqT, RespT> call) {
    final ServerStreamTracer.ServerCallInfo<ReqT, RespT> info =
        new ServerStreamTracer.ServerCallInfo<>() {
          @Override
          public MethodDescriptor<ReqT, RespT> getMethodDescriptor() {
            return call.getMethodDescriptor();
          }

          @Override
          public Attributes getAttributes() {
            return call.getAttributes();
          }

          @Override
          public String getAuthority() {
            return call.getAuthority();
          }
        };
    tell(tracers, tracer -> tracer.serverCallStarted(info));
  }
}
