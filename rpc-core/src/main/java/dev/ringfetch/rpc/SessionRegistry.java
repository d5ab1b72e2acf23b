package dev.ringfetch.rpc;

import io.grpc.HandlerRegistry;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import java.util.List;

/**
 * Registry in which the gRPC server finds the session service: behind the user's services, so that
 * neither reflection nor {@code getServices} list it.
 */
final class SessionRegistry extends HandlerRegistry {
  private final ServerServiceDefinition session;
  private final HandlerRegistry user;

  SessionRegistry(ServerServiceDefinition session, HandlerRegistry user) {
    this.session = session;
    this.user = user;
  }

  @Override
  public List<ServerServiceDefinition> getServices() {
    return user.getServices();
  }

  @Override
  public ServerMethodDefinition<?, ?> lookupMethod(String methodName, String authority) {
    final ServerMethodDefinition<?, ?> own = session.getMethod(methodName);
    return own != null ? own : user.lookupMethod(methodName, authority);
  }
}
