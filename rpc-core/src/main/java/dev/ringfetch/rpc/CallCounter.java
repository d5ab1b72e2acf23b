package dev.ringfetch.rpc;

import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import java.util.concurrent.atomic.LongAdder;

/** Counts the calls that come to a server over gRPC. Those of rings do not pass here. */
final class CallCounter implements ServerInterceptor {
  private final LongAdder calls = new LongAdder();

  LongAdder calls() {
    return calls;
  }

  @Override
  public <ReqT, RespT> ServerCall.Listener<ReqT> interceptCall(
      ServerCall<ReqT, RespT> call, Metadata headers, ServerCallHandler<ReqT, RespT> next) {
    calls.increment();
    return next.startCall(call, headers);
  }
}
