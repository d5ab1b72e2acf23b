package dev.ringfetch.rpc;

import io.grpc.Metadata;
import io.grpc.ServerStreamTracer;

/** A user's tracers without the session service: its calls are none of the user's. */
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
