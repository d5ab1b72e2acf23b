package dev.ringfetch.index.direct;

import io.grpc.CallOptions;

/**
 * The option of calls that are for one node of a cluster. A channel that goes to all nodes obeys
 * it; one to a single server goes there all the same, and the server refuses what is for another
 * one.
 */
public final class NodeAddress {
  /** Address of the node, host and port. */
  public static final CallOptions.Key<String> KEY =
      CallOptions.Key.create("dev.ringfetch.index.node");

  private NodeAddress() {}
}
