/**
 * gRPC calls over rings in shared or remote memory. Applications use {@code dev.ringfetch.rpc}, and
 * {@code dev.ringfetch.micrometer} or {@code dev.ringfetch.opentelemetry} where they have
 * Micrometer or OpenTelemetry; the other packages are internal.
 */
// The modules that it exports to come later; gRPC and protobuf are automatic modules.
@SuppressWarnings({"module", "requires-automatic", "requires-transitive-automatic"})
module dev.ringfetch.rpc {
  requires transitive com.google.protobuf;
  requires transitive io.grpc;
  requires static com.google.errorprone.annotations; // in annotations of gRPC
  requires static io.opentelemetry.api;
  requires static io.opentelemetry.context; // in signatures of its API
  requires static jdk.jfr;
  requires static micrometer.core;
  requires static org.jspecify;
  requires io.grpc.stub;
  requires io.grpc.util;
  requires java.management;
  requires jdk.net;
  requires org.agrona;

  exports dev.ringfetch.rpc;
  exports dev.ringfetch.micrometer;
  exports dev.ringfetch.opentelemetry;
  exports dev.ringfetch.fabric to
      dev.ringfetch.rdma,
      dev.ringfetch.memory,
      dev.ringfetch.index.reader,
      dev.ringfetch.index;
  exports dev.ringfetch.timer to
      dev.ringfetch.rdma;

  uses dev.ringfetch.counters.CounterFiles;
  uses dev.ringfetch.fabric.FabricProvider;

  provides dev.ringfetch.counters.CounterFiles with
      dev.ringfetch.fabric.shm.ShmCounterFiles;
  provides dev.ringfetch.fabric.FabricProvider with
      dev.ringfetch.fabric.shm.ShmProvider;
  provides io.grpc.LoadBalancerProvider with
      dev.ringfetch.rpc.TapProvider;
  provides io.grpc.ManagedChannelProvider with
      dev.ringfetch.rpc.DropInChannelProvider;
  provides io.grpc.ServerProvider with
      dev.ringfetch.rpc.DropInServerProvider;
}
