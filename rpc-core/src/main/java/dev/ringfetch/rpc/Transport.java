package dev.ringfetch.rpc;

import dev.ringfetch.fabric.FabricProviders;
import io.grpc.Attributes;
import io.grpc.Grpc;

/**
 * The transport that serves a channel's next call, and why.
 *
 * @param name the fabric's name, for example {@link #SHM}; {@code grpc}; or {@code none}.
 * @param reason in one line: the peer, or why there is no ring.
 */
public record Transport(String name, String reason) {
  /**
   * Attribute of a call that a ring carries, on both sides: name of the ring's fabric. A call over
   * gRPC has no such attribute.
   */
  @Grpc.TransportAttr
  public static final Attributes.Key<String> TRANSPORT_ATTR_FABRIC =
      Attributes.Key.create("dev.ringfetch.rpc.Transport.TRANSPORT_ATTR_FABRIC");

  /** Name of the fabric between processes of one user on one host. */
  public static final String SHM = FabricProviders.SHM;

  /** Name of the fabric between hosts with RDMA devices. */
  public static final String VERBS = FabricProviders.VERBS;

  /** Name of the transport that serves where no ring does. */
  public static final String GRPC = "grpc";

  /** Name where nothing serves: there is no ring, and the channel requires one. */
  public static final String NONE = "none";

  /** True when a ring serves. */
  public boolean isRing() {
    return !GRPC.equals(name) && !NONE.equals(name);
  }
}
