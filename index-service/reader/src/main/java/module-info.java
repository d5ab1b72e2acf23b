/**
 * The parts that clients and servers of the index share: the direct reading of indexes in {@code
 * dev.ringfetch.index.direct}, based on the layouts of index memory, the conditions on entries in
 * {@code dev.ringfetch.index.filter}, and TLS credentials in {@code dev.ringfetch.index.tls}.
 */
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic", "module"}) // gRPC
module dev.ringfetch.index.reader {
  requires transitive dev.ringfetch.index.protocol;
  requires com.google.common;
  requires dev.ringfetch.rpc;
  requires io.grpc.util;
  requires org.agrona;

  exports dev.ringfetch.index.direct;
  exports dev.ringfetch.index.files to
      dev.ringfetch.index;
  exports dev.ringfetch.index.filter to
      dev.ringfetch.index,
      dev.ringfetch.index.client;
  exports dev.ringfetch.index.layout to
      dev.ringfetch.index,
      dev.ringfetch.index.client;
  exports dev.ringfetch.index.tls;
}
