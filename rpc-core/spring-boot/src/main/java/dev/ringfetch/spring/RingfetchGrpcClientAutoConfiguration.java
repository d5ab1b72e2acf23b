package dev.ringfetch.spring;

import io.grpc.CompressorRegistry;
import io.grpc.DecompressorRegistry;
import io.grpc.ManagedChannelBuilder;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.grpc.client.autoconfigure.GrpcClientAutoConfiguration;
import org.springframework.boot.grpc.client.autoconfigure.GrpcClientDefaultServiceConfigCustomizer;
import org.springframework.boot.grpc.client.autoconfigure.GrpcClientProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.grpc.client.GrpcChannelBuilderCustomizer;

/** Auto-configuration that attaches rings to the channels of Spring gRPC. */
@AutoConfiguration(before = GrpcClientAutoConfiguration.class)
@ConditionalOnClass(GrpcClientAutoConfiguration.class)
@ConditionalOnBooleanProperty(name = "spring.grpc.client.enabled", matchIfMissing = true)
@EnableConfigurationProperties({GrpcClientProperties.class, RingfetchGrpcClientProperties.class})
public final class RingfetchGrpcClientAutoConfiguration {
  @Bean
  ChannelRings ringfetchChannelRings(
      GrpcClientProperties channels,
      RingfetchGrpcClientProperties properties,
      ObjectProvider<CompressorRegistry> compressors,
      ObjectProvider<DecompressorRegistry> decompressors,
      ObjectProvider<RingfetchChannelCustomizer> customizers) {
    return new ChannelRings(channels, properties, compressors, decompressors, customizers);
  }

  /** Before those of the application, whose settings then count for gRPC. */
  @Bean
  @Order(Ordered.HIGHEST_PRECEDENCE)
  <T extends ManagedChannelBuilder<T>>
      GrpcChannelBuilderCustomizer<T> ringfetchChannelBuilderCustomizer(ChannelRings rings) {
    return rings.ofBuilders();
  }

  /** After those of the application: the rings follow the config that they complete. */
  @Bean
  @Order(Ordered.LOWEST_PRECEDENCE)
  GrpcClientDefaultServiceConfigCustomizer ringfetchServiceConfigCustomizer(ChannelRings rings) {
    return rings.ofConfigs();
  }
}
