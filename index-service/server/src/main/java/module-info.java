/** The server program of the index service. It exports nothing: clients use its protocol. */
@SuppressWarnings("requires-automatic") // gRPC
module dev.ringfetch.index {
  requires dev.ringfetch.index.protocol;
  requires dev.ringfetch.index.reader;
  requires dev.ringfetch.rpc;
  requires info.picocli;
  requires io.grpc.services;
  requires org.agrona;

  opens dev.ringfetch.index to
      info.picocli; // sets the fields of options
}
