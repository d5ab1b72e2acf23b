package dev.ringfetch.frameworks.quarkus;

import dev.ringfetch.rpc.RingChannelBuilder;
import io.grpc.netty.NettyChannelBuilder;
import io.quarkus.grpc.api.ChannelBuilderCustomizer;
import io.quarkus.grpc.runtime.config.GrpcClientConfiguration;
import jakarta.inject.Singleton;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/**
 * Attaches rings to the channels of the application. Quarkus sets the returned service config after
 * all customizers, and the last one's entries count, so this one comes last.
 */
@Singleton
class ChannelRings implements ChannelBuilderCustomizer<NettyChannelBuilder> {
  @ConfigProperty(name = "stock.rings", defaultValue = "true")
  boolean enabled;

  @Override
  public Map<String, Object> customize(
      String name, GrpcClientConfiguration config, NettyChannelBuilder builder) {
    if (!enabled) {
      return Map.of();
    }
    final RingChannelBuilder rings =
        RingChannelBuilder.over(builder, name)
            .defaultLoadBalancingPolicy(config.loadBalancingPolicy());
    config.maxInboundMessageSize().ifPresent(rings::maxInboundMessageSize);
    config.maxInboundMetadataSize().ifPresent(rings::maxInboundMetadataSize);
    config
        .idleTimeout()
        .ifPresent(time -> rings.idleTimeout(time.toMillis(), TimeUnit.MILLISECONDS));
    return Map.copyOf(rings.attach());
  }

  @Override
  public int priority() {
    return Integer.MAX_VALUE;
  }
}
