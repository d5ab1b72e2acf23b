package dev.ringfetch.spring;

import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.CompressorRegistry;
import io.grpc.DecompressorRegistry;
import io.grpc.ServerBuilder;
import java.util.concurrent.TimeUnit;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.PropertyMapper;
import org.springframework.boot.grpc.server.autoconfigure.GrpcServerAutoConfiguration;
import org.springframework.boot.grpc.server.autoconfigure.GrpcServerExecutorProvider;
import org.springframework.boot.grpc.server.autoconfigure.GrpcServerProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.grpc.server.ServerBuilderCustomizer;

/** Auto-configuration that attaches rings to the servers of Spring gRPC that listen at a port. */
@AutoConfiguration(before = GrpcServerAutoConfiguration.class)
@ConditionalOnClass(GrpcServerAutoConfiguration.class)
@ConditionalOnBooleanProperty(name = "spring.grpc.server.ringfetch.enabled", matchIfMissing = true)
@EnableConfigurationProperties({GrpcServerProperties.class, RingfetchGrpcServerProperties.class})
public final class RingfetchGrpcServerAutoConfiguration {
  private static final String IN_PROCESS = "io.grpc.inprocess.InProcessServerBuilder";
  private static final String SERVLET = "io.grpc.servlet.jakarta.ServletServerBuilder";

  /** Before those of the application, whose settings then count for gRPC. */
  @Bean
  @Order(Ordered.HIGHEST_PRECEDENCE)
  <T extends ServerBuilder<T>> ServerBuilderCustomizer<T> ringfetchServerBuilderCustomizer(
      GrpcServerProperties server,
      RingfetchGrpcServerProperties properties,
      ObjectProvider<GrpcServerExecutorProvider> executor,
      ObjectProvider<CompressorRegistry> compressors,
      ObjectProvider<DecompressorRegistry> decompressors,
      ObjectProvider<RingfetchServerCustomizer> customizers) {
    return builder -> {
      final String type = builder.getClass().getName();
      if (type.equals(SERVLET)) {
        System.getLogger(RingfetchGrpcServerAutoConfiguration.class.getName())
            .log(
                System.Logger.Level.INFO,
                "gRPC in a servlet has no rings; spring.grpc.server.servlet.enabled=false gives it"
                    + " a server of its own");
      }
      if (type.equals(SERVLET) || type.equals(IN_PROCESS)) {
        return;
      }
      final RingServerBuilder rings = RingServerBuilder.over(builder);
      compressors.ifAvailable(rings::compressorRegistry);
      decompressors.ifAvailable(rings::decompressorRegistry);
      executor.ifAvailable(own -> rings.executor(own.getExecutor()));
      tell(server, rings);
      apply(properties, rings);
      customizers.orderedStream().forEach(customizer -> customizer.customize(rings));
      rings.attach();
    };
  }

  /** Tells the settings of the server that Boot has given to the builder beneath. */
  private static void tell(GrpcServerProperties server, RingServerBuilder rings) {
    final PropertyMapper map = PropertyMapper.get();
    map.from(server.getInbound().getMessage()::getMaxSize)
        .asInt(size -> size.toBytes())
        .to(rings::maxInboundMessageSize);
    map.from(server.getInbound().getMetadata()::getMaxSize)
        .asInt(size -> size.toBytes())
        .to(rings::maxInboundMetadataSize);
    final GrpcServerProperties.Keepalive.Connection connection =
        server.getKeepalive().getConnection();
    map.from(connection::getMaxIdleTime)
        .to(time -> rings.maxConnectionIdle(time.toNanos(), TimeUnit.NANOSECONDS));
    map.from(connection::getMaxAge)
        .to(time -> rings.maxConnectionAge(time.toNanos(), TimeUnit.NANOSECONDS));
    map.from(connection::getGracePeriod)
        .to(time -> rings.maxConnectionAgeGrace(time.toNanos(), TimeUnit.NANOSECONDS));
  }

  private static void apply(RingfetchGrpcServerProperties properties, RingServerBuilder rings) {
    properties.tell(
        rings::fabrics, rings::plaintextFabrics, rings::shmDirectory, rings::acrossProxies);
    PropertyMapper.get().from(properties::getMaxSessions).to(rings::maxSessions);
  }
}
