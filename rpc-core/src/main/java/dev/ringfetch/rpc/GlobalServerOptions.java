package dev.ringfetch.rpc;

import io.grpc.ForwardingServerBuilder;
import io.grpc.InternalConfiguratorRegistry;
import io.grpc.MetricSink;
import io.grpc.ServerBuilder;
import io.grpc.ServerInterceptor;
import io.grpc.ServerStreamTracer;
import java.util.ArrayList;
import java.util.List;

/**
 * The options that are registered for all servers of the process; see {@link GlobalChannelOptions}.
 */
final class GlobalServerOptions extends ForwardingServerBuilder<GlobalServerOptions> {
  private final ServerBuilder<?> others;
  private final List<ServerInterceptor> interceptors = new ArrayList<>();
  private final List<ServerStreamTracer.Factory> tracerFactories = new ArrayList<>();

  private GlobalServerOptions(ServerBuilder<?> others) {
    this.others = others;
  }

  /** Applies the registered options to a builder, except for interceptors and tracers. */
  static GlobalServerOptions apply(ServerBuilder<?> builder) {
    final GlobalServerOptions options = new GlobalServerOptions(builder);
    InternalConfiguratorRegistry.configureServerBuilder(options);
    return options;
  }

  /** For calls that a ring carries. */
  List<ServerInterceptor> interceptors() {
    return interceptors;
  }

  /** For calls that a ring carries. */
  List<ServerStreamTracer.Factory> tracerFactories() {
    return tracerFactories;
  }

  @Override
  protected ServerBuilder<?> delegate() {
    return others;
  }

  @Override
  public GlobalServerOptions intercept(ServerInterceptor interceptor) {
    interceptors.add(interceptor);
    return this;
  }

  @Override
  public GlobalServerOptions addStreamTracerFactory(ServerStreamTracer.Factory factory) {
    tracerFactories.add(factory);
    return this;
  }

  @Override
  public GlobalServerOptions addMetricSink(MetricSink sink) {
    return this; // the gRPC server has it
  }
}
