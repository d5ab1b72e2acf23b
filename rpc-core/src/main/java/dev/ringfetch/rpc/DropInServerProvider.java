package dev.ringfetch.rpc;

import io.grpc.ServerBuilder;
import io.grpc.ServerCredentials;
import io.grpc.ServerProvider;

/**
 * Provider that gives rings to applications which build their servers through grpc-api alone; see
 * {@link DropInChannelProvider}.
 */
public final class DropInServerProvider extends ServerProvider {
  /** Creates the provider; called by the registry. */
  public DropInServerProvider() {}

  @Override
  protected boolean isAvailable() {
    return GrpcBuilders.isDropInAvailable();
  }

  @Override
  protected int priority() {
    return GrpcBuilders.PRIORITY;
  }

  @Override
  protected ServerBuilder<?> builderForPort(int port) {
    return GrpcBuilders.orPlain(
        () -> RingServerBuilder.forPort(port), () -> GrpcBuilders.forPort(port));
  }

  @Override
  protected NewServerBuilderResult newServerBuilderForPort(
      int port, ServerCredentials credentials) {
    return GrpcBuilders.isSought()
        ? NewServerBuilderResult.error("the transport beneath a ring is another one")
        : NewServerBuilderResult.serverBuilder(
            GrpcBuilders.orPlain(
                () -> RingServerBuilder.newServerBuilderForPort(port, credentials),
                () -> GrpcBuilders.newServerBuilder(port, credentials)));
  }
}
