package dev.ringfetch.rpc;

import io.grpc.ChannelCredentials;
import io.grpc.ManagedChannelBuilder;
import io.grpc.ManagedChannelProvider;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Collection;
import java.util.Set;

/**
 * Provider that gives rings to applications which build their channels through grpc-api alone,
 * where the system property {@code ringfetch.dropin} or the environment variable {@code
 * RINGFETCH_DROPIN} is {@code true}. Instantiated by grpc-api's registry.
 */
public final class DropInChannelProvider extends ManagedChannelProvider {
  /** Creates the provider; called by the registry. */
  public DropInChannelProvider() {}

  @Override
  protected boolean isAvailable() {
    return GrpcBuilders.isDropInAvailable();
  }

  @Override
  protected int priority() {
    return GrpcBuilders.PRIORITY;
  }

  @Override
  protected ManagedChannelBuilder<?> builderForAddress(String name, int port) {
    return GrpcBuilders.orPlain(
        () -> RingChannelBuilder.forAddress(name, port), () -> GrpcBuilders.forAddress(name, port));
  }

  @Override
  protected ManagedChannelBuilder<?> builderForTarget(String target) {
    return GrpcBuilders.orPlain(
        () -> RingChannelBuilder.forTarget(target), () -> GrpcBuilders.forTarget(target));
  }

  @Override
  protected NewChannelBuilderResult newChannelBuilder(
      String target, ChannelCredentials credentials) {
    return GrpcBuilders.isSought()
        ? NewChannelBuilderResult.error("the transport beneath a ring is another one")
        : NewChannelBuilderResult.channelBuilder(
            GrpcBuilders.orPlain(
                () -> RingChannelBuilder.newChannelBuilder(target, credentials),
                () -> GrpcBuilders.newChannelBuilder(target, credentials)));
  }

  @Override
  protected Collection<Class<? extends SocketAddress>> getSupportedSocketAddressTypes() {
    return Set.of(InetSocketAddress.class);
  }
}
