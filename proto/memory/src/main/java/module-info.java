/** Messages and stubs of memory that programs share. */
module dev.ringfetch.memory.protocol {
  requires transitive com.google.common;
  requires transitive com.google.protobuf;
  requires transitive io.grpc;
  requires transitive io.grpc.stub;
  requires io.grpc.protobuf;

  exports dev.ringfetch.memory.v1;
}
