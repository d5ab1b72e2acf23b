/** The client of the index service: typed views in {@code dev.ringfetch.index.client}. */
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"}) // gRPC
module dev.ringfetch.index.client {
  requires transitive com.google.protobuf;
  requires transitive io.grpc;
  requires static com.fasterxml.jackson.databind;
  requires static micrometer.core;
  requires transitive dev.ringfetch.index.protocol;
  requires dev.ringfetch.index.reader;
  requires transitive dev.ringfetch.rpc; // the annotation Experimental
  requires io.grpc.stub;

  uses dev.ringfetch.index.client.NodeFinder;

  exports dev.ringfetch.index.client;
}
