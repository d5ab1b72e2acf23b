package dev.ringfetch.index.v1;

import io.grpc.Metadata;

/** The trailers that say more of a status than its description does. */
public final class Trailers {
  /**
   * With FAILED_PRECONDITION, where a cluster's node got a call for an index that another one leads:
   * the leader's address, {@code host:port}. The call was not carried out.
   */
  public static final Metadata.Key<String> LEADER =
      Metadata.Key.of("ringfetch-leader", Metadata.ASCII_STRING_MARSHALLER);

  /** With {@link #LEADER}: addresses of the cluster's nodes, with commas between. */
  public static final Metadata.Key<String> NODES =
      Metadata.Key.of("ringfetch-nodes", Metadata.ASCII_STRING_MARSHALLER);

  private Trailers() {}
}
