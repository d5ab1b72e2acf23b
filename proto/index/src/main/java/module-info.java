/** Messages and stubs of the index service. */
module dev.ringfetch.index.protocol {
  requires transitive com.google.common;
  requires transitive com.google.protobuf;
  requires transitive io.grpc;
  requires transitive io.grpc.stub;
  requires io.grpc.protobuf;

  exports dev.ringfetch.index.v1;
}
