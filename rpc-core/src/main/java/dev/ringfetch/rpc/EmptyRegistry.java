package dev.ringfetch.rpc;

import io.grpc.HandlerRegistry;
import io.grpc.ServerMethodDefinition;

/** The fallback registry of a server that was given none. */
final class EmptyRegistry extends HandlerRegistry {
  @Override
  public ServerMethodDefinition<?, ?> lookupMethod(String methodName, String authority) {
    return null;
  }
}
