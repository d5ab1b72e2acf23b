package dev.ringfetch.rpc;

import io.grpc.InternalServer;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import java.util.concurrent.atomic.LongAdder;

/**
 * Interceptor that counts the calls that come to a server over gRPC. Calls on rings do not pass
 * here. Where a builder has built several servers, the calls of the later ones pass, too, and are
 * not counted.
 */
final class CallCounter implements ServerInterceptor {
  private final LongAdder calls = new LongAdder();

  private volatile Server server;
  private volatile boolean onlyOwn;

  LongAdder calls() {
    return calls;
  }

  /** Sets the server that the calls are counted for. */
  void server(Server counted) {
    this.server = counted;
  }

  /** Called when the builder has built another server: only the first one's calls are counted. */
  void countOnlyOwn() {
    onlyOwn = true;
  }

  @Override
  public <ReqT, RespT> ServerCall.Listener<ReqT> interceptCall(
      ServerCall<ReqT, RespT> call, Metadata headers, ServerCallHandler<ReqT, RespT> next) {
    if (!onlyOwn || InternalServer.SERVER_CONTEXT_KEY.get() == server) {
      calls.increment();
    }
    return next.startCall(call, headers);
  }
}
