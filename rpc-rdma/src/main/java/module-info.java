/**
 * The RDMA fabric of Ringfetch. It exports nothing: {@code dev.ringfetch.rpc} finds its provider.
 */
@SuppressWarnings("requires-automatic") // DiSNI
module dev.ringfetch.rdma {
  requires dev.ringfetch.rpc;
  requires static com.google.errorprone.annotations;
  requires disni;
  requires org.slf4j;

  provides dev.ringfetch.fabric.FabricProvider with
      dev.ringfetch.rdma.verbs.VerbsProvider;
}
