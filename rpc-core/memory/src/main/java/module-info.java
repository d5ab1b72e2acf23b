/** Values, broadcasts, counters and locks that programs share. */
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"}) // gRPC
module dev.ringfetch.memory {
  requires transitive dev.ringfetch.rpc;
  requires transitive io.grpc;
  requires com.google.common;
  requires com.google.errorprone.annotations;
  requires com.google.protobuf;
  requires dev.ringfetch.memory.protocol;
  requires io.grpc.stub;
  requires static org.jspecify;

  exports dev.ringfetch.memory;
}
