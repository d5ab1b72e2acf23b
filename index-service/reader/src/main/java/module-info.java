/**
 * The direct reading of indexes by clients: readers in {@code dev.ringfetch.index.direct}, based on
 * the layouts of index memory.
 */
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic", "module"}) // gRPC
module dev.ringfetch.index.reader {
  requires transitive dev.ringfetch.index.protocol;
  requires com.google.common;
  requires dev.ringfetch.rpc;

  exports dev.ringfetch.index.direct;
  exports dev.ringfetch.index.layout to
      dev.ringfetch.index,
      dev.ringfetch.index.client;
}
