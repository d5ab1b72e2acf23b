package dev.ringfetch.rpc;

import io.grpc.Metadata;
import io.grpc.ServerStreamTracer;

/** A user's tracer factory, bypassed for the calls of the session service. */
final class SessionTracers extends ServerStreamTracer.Factory {
  private static final String OPEN = SessionService.OPEN.getFullMethodName();
  private static final ServerStreamTracer NONE = new ServerStreamTracer() {};

  private final ServerStreamTracer.Factory user;

  SessionTracers(ServerStreamTracer.Factory user) {
    this.user = user;
  }

  @Override
  public ServerStreamTracer newServerStreamTracer(String fullMethodName, Metadata headers) {
    return OPEN.equals(fullMethodName) ? NONE : user.newServerStreamTracer(fullMethodName, headers);
  }
}
