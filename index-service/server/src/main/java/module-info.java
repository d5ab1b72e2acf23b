/**
 * The server of the index service: a program, and in {@code dev.ringfetch.index.service} the
 * services for a server of an application's own, or a node of a cluster, whose coordinator is
 * behind {@code dev.ringfetch.index.coordinator}; and kernels in {@code
 * dev.ringfetch.index.kernel}. Clients use the protocol.
 */
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic", "module"}) // gRPC
module dev.ringfetch.index {
  requires transitive dev.ringfetch.index.protocol;
  requires dev.ringfetch.index.reader;
  requires transitive dev.ringfetch.rpc;
  requires com.google.protobuf.util; // the program alone
  requires info.picocli;
  requires java.naming; // names in certificates
  requires static com.google.errorprone.annotations;
  requires static io.grpc.netty; // the program alone
  requires static jdk.httpserver; // the program alone
  requires static micrometer.core;
  requires static micrometer.registry.prometheus;
  requires static org.jspecify;
  requires io.grpc.services;
  requires java.logging; // the program alone
  requires org.agrona;

  uses dev.ringfetch.index.coordinator.CoordinatorProvider;
  uses dev.ringfetch.index.kernel.Kernel;

  exports dev.ringfetch.index.coordinator;
  exports dev.ringfetch.index.kernel;
  exports dev.ringfetch.index.rights;
  exports dev.ringfetch.index.service;

  opens dev.ringfetch.index to
      info.picocli; // sets the fields of options
}
