package dev.ringfetch.frameworks.quarkus;

import dev.ringfetch.rpc.RingServerBuilder;
import io.quarkus.grpc.api.ServerBuilderCustomizer;
import io.quarkus.grpc.runtime.config.GrpcServerConfiguration;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.grpc.VertxServerBuilder;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/**
 * Attaches rings to the server of the application. Quarkus calls handlers on an event loop of
 * Vert.x, and its interceptors need that, so rings get an executor that leads there.
 */
@Singleton
class ServerRings implements ServerBuilderCustomizer<VertxServerBuilder> {
  @Inject Vertx vertx;

  @ConfigProperty(name = "stock.rings", defaultValue = "true")
  boolean enabled;

  @Override
  public void customize(GrpcServerConfiguration config, VertxServerBuilder builder) {
    if (!enabled) {
      return;
    }
    final Context context = vertx.getOrCreateContext();
    final RingServerBuilder rings =
        RingServerBuilder.over(builder.nettyBuilder())
            .executor(task -> context.runOnContext(unused -> task.run()));
    config.maxInboundMessageSize().ifPresent(rings::maxInboundMessageSize);
    config.maxInboundMetadataSize().ifPresent(rings::maxInboundMetadataSize);
    rings.attach();
  }
}
