package dev.ringfetch.spring;

import dev.ringfetch.rpc.RingChannelBuilder;
import io.grpc.CompressorRegistry;
import io.grpc.DecompressorRegistry;
import io.grpc.ManagedChannelBuilder;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.grpc.client.autoconfigure.GrpcClientDefaultServiceConfigCustomizer;
import org.springframework.boot.grpc.client.autoconfigure.GrpcClientProperties;
import org.springframework.grpc.client.GrpcChannelBuilderCustomizer;

/**
 * The customizers that attach rings to the builders of channels. Boot calls the first one with the
 * builder, before those of the application; and the second one, for the same channel and on the
 * same thread, with the service config that all others have completed.
 */
final class ChannelRings {
  private static final String IN_PROCESS = "io.grpc.inprocess.InProcessChannelBuilder";

  private static final String UNIX = "unix:";

  /**
   * The channels that Boot builds on a thread, by their targets: a customizer of the application
   * may create another channel.
   */
  private static final ThreadLocal<Map<String, RingChannelBuilder>> BUILDING =
      ThreadLocal.withInitial(HashMap::new);

  private final GrpcClientProperties channels;
  private final RingfetchGrpcClientProperties properties;
  private final ObjectProvider<CompressorRegistry> compressors;
  private final ObjectProvider<DecompressorRegistry> decompressors;
  private final ObjectProvider<RingfetchChannelCustomizer> customizers;

  ChannelRings(
      GrpcClientProperties channels,
      RingfetchGrpcClientProperties properties,
      ObjectProvider<CompressorRegistry> compressors,
      ObjectProvider<DecompressorRegistry> decompressors,
      ObjectProvider<RingfetchChannelCustomizer> customizers) {
    this.channels = channels;
    this.properties = properties;
    this.compressors = compressors;
    this.decompressors = decompressors;
    this.customizers = customizers;
  }

  /** Returns the customizer of builders. */
  <T extends ManagedChannelBuilder<T>> GrpcChannelBuilderCustomizer<T> ofBuilders() {
    return this::begin;
  }

  /** Returns the customizer of service configs. */
  GrpcClientDefaultServiceConfigCustomizer ofConfigs() {
    return this::attach;
  }

  private void begin(String target, ManagedChannelBuilder<?> builder) {
    take(target); // of a channel that could not be built
    final RingfetchGrpcClientProperties.Rings own = properties.of(target);
    final GrpcClientProperties.Channel channel = channel(target);
    if (!own.isEnabled()
        || builder.getClass().getName().equals(IN_PROCESS)
        || target.startsWith(UNIX)
        || channel.getTarget().startsWith(UNIX)) {
      return;
    }
    final RingChannelBuilder rings = RingChannelBuilder.over(builder, target);
    tell(channel, rings);
    own.tell(rings::fabrics, rings::plaintextFabrics, rings::shmDirectory, rings::acrossProxies);
    BUILDING.get().put(target, rings);
  }

  private static @Nullable RingChannelBuilder take(String target) {
    final Map<String, RingChannelBuilder> building = BUILDING.get();
    final RingChannelBuilder taken = building.remove(target);
    if (building.isEmpty()) {
      BUILDING.remove();
    }
    return taken;
  }

  /** Tells the settings of the channel that Boot has given to the builder beneath. */
  private void tell(GrpcClientProperties.Channel channel, RingChannelBuilder rings) {
    compressors.ifAvailable(rings::compressorRegistry);
    decompressors.ifAvailable(rings::decompressorRegistry);
    rings.maxInboundMessageSize(bytes(channel.getInbound().getMessage().getMaxSize().toBytes()));
    rings.maxInboundMetadataSize(bytes(channel.getInbound().getMetadata().getMaxSize().toBytes()));
    rings.idleTimeout(channel.getIdle().getTimeout().toNanos(), TimeUnit.NANOSECONDS);
    rings.defaultLoadBalancingPolicy(channel.getDefault().getLoadBalancingPolicy());
  }

  /** Returns the properties of a channel, by Boot's rule. */
  private GrpcClientProperties.Channel channel(String target) {
    final GrpcClientProperties.Channel own =
        channels.getChannel().getOrDefault(target, channels.getChannel().get("default"));
    return own == null ? new GrpcClientProperties.Channel() : own;
  }

  private static int bytes(long size) {
    return size < 0 || size > Integer.MAX_VALUE ? Integer.MAX_VALUE : (int) size;
  }

  private void attach(String target, Map<String, Object> config) {
    final RingChannelBuilder rings = take(target);
    if (rings == null) {
      return;
    }
    if (!config.isEmpty()) {
      rings.defaultServiceConfig(new LinkedHashMap<>(config));
      config.clear(); // or Boot would replace the config that is attached
    }
    customizers.orderedStream().forEach(customizer -> customizer.customize(target, rings));
    rings.attach();
  }
}
