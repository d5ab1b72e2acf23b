/** The layouts of index memory and the readers of them. */
@SuppressWarnings({"requires-automatic", "module"}) // gRPC; the server's module comes later
module dev.ringfetch.index.reader {
  requires dev.ringfetch.index.protocol;
  requires dev.ringfetch.rpc;

  exports dev.ringfetch.index.layout to
      dev.ringfetch.index;
}
