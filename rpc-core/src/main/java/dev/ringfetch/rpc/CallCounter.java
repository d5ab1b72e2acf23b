package dev.ringfetch.rpc;

import io.grpc.InternalServer;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts the calls that come to a server over gRPC. Those of rings do not pass here, but, where a
 * builder has made several servers, those of the later ones do: they are not counted.
 */
final class CallCounter implements ServerInterceptor {
  private final LongAdder calls = new LongAdder();

  private volatile Server server;
  private volatile boolean onlyOwn;

  LongAdder calls() {
    return calls;
  }

  /** Sets whose calls these are. */
  void server(Server counted) {
    this.server = counted;
  }

  /** There is another server whose calls come here. */
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
