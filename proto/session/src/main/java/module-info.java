/** Internal: the messages by which Ringfetch's two sides agree, over gRPC, on a session. */
module dev.ringfetch.protocol {
  requires transitive com.google.common;
  requires transitive com.google.protobuf;
  requires transitive io.grpc;
  requires transitive io.grpc.stub;
  requires io.grpc.protobuf;

  exports dev.ringfetch.v1 to
      dev.ringfetch.rpc,
      com.google.protobuf, // reads the fields of messages by reflection
      io.grpc.protobuf;
}
