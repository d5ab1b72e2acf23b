package dev.ringfetch.rpc;

import io.grpc.HandlerRegistry;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import java.util.List;

/** A user's fallback registry with the server's interceptors around its methods, as in gRPC. */
final class InterceptedRegistry extends HandlerRegistry {
  private final HandlerRegistry registry;
  private final List<ServerInterceptor> interceptors;

  InterceptedRegistry(HandlerRegistry registry, List<ServerInterceptor> interceptors) {
    this.registry = registry;
    this.interceptors = List.copyOf(interceptors);
  }

  @Override
  public List<ServerServiceDefinition> getServices() {
    return registry.getServices();
  }

  @Override
  public ServerMethodDefinition<?, ?> lookupMethod(String methodName, String authority) {
    final ServerMethodDefinition<?, ?> method = registry.lookupMethod(methodName, authority);
    return method == null || interceptors.isEmpty() ? method : intercept(method);
  }

  private <ReqT, RespT> ServerMethodDefinition<?, ?> intercept(
      ServerMethodDefinition<ReqT, RespT> method) {
    final String service = method.getMethodDescriptor().getServiceName();
    final ServerServiceDefinition alone =
        ServerServiceDefinition.builder(service).addMethod(method).build();
    return ServerInterceptors.intercept(alone, interceptors)
        .getMethod(method.getMethodDescriptor().getFullMethodName());
  }
}
