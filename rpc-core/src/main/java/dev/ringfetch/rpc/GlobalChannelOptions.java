package dev.ringfetch.rpc;

import io.grpc.ClientInterceptor;
import io.grpc.ForwardingChannelBuilder2;
import io.grpc.InternalConfiguratorRegistry;
import io.grpc.ManagedChannelBuilder;
import io.grpc.MetricSink;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The options that are registered for all channels of the process, as by {@code
 * GrpcOpenTelemetry.registerGlobal}. The gRPC channel has them already; the interceptors are kept
 * here for calls on a ring.
 */
final class GlobalChannelOptions extends ForwardingChannelBuilder2<GlobalChannelOptions> {
  private final ManagedChannelBuilder<?> others;
  private final String target;
  private final List<ClientInterceptor> interceptors = new ArrayList<>();

  private GlobalChannelOptions(ManagedChannelBuilder<?> others, String target) {
    this.others = others;
    this.target = target;
  }

  /** Applies the registered options to a builder, except for interceptors, which are returned. */
  static List<ClientInterceptor> apply(ManagedChannelBuilder<?> builder, String target) {
    final GlobalChannelOptions options = new GlobalChannelOptions(builder, target);
    InternalConfiguratorRegistry.configureChannelBuilder(options);
    return List.copyOf(options.interceptors);
  }

  @Override
  protected ManagedChannelBuilder<?> delegate() {
    return others;
  }

  @Override
  public GlobalChannelOptions intercept(List<ClientInterceptor> added) {
    interceptors.addAll(added);
    return this;
  }

  @Override
  public GlobalChannelOptions intercept(ClientInterceptor... added) {
    return intercept(Arrays.asList(added));
  }

  @Override
  protected GlobalChannelOptions interceptWithTarget(InterceptorFactory factory) {
    interceptors.add(factory.newInterceptor(target));
    return this;
  }

  @Override
  protected GlobalChannelOptions addMetricSink(MetricSink sink) {
    return this; // for the metrics of the gRPC channel alone, which has it
  }
}
