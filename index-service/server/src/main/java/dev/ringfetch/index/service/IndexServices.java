package dev.ringfetch.index.service;

import dev.ringfetch.index.peers.GrpcPeers;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.ServerCallExecutorSupplier;

/**
 * The services of a server's indexes: Index, IndexAdmin, and DirectAccess, which grants direct
 * reads.
 */
public final class IndexServices {
  private IndexServices() {}

  /**
   * The executor of calls between nodes, for the gRPC server of a {@link ClusterNode}; other calls
   * keep the server's. The network's threads then carry out heartbeats themselves, which wakes
   * fewer threads of idle nodes. Not for the builder of rings, which choose threads themselves.
   */
  public static ServerCallExecutorSupplier nodeCallExecutor() {
    return GrpcPeers.callExecutor();
  }

  /**
   * Adds the services to a server with rings, with direct reads granted unless calls pass
   * interceptors. The caller ends the server first, and then closes the indexes.
   *
   * @return the builder
   */
  public static RingServerBuilder addTo(RingServerBuilder builder, Indexes indexes) {
    return addTo(builder, indexes, DirectAccessService.Mode.UNLESS_INTERCEPTED);
  }

  /**
   * As {@link #addTo(RingServerBuilder, Indexes)}, with direct reads granted in this mode.
   *
   * @return the builder
   */
  public static RingServerBuilder addTo(
      RingServerBuilder builder, Indexes indexes, DirectAccessService.Mode mode) {
    builder.addService(new IndexService(indexes)).addService(new IndexAdminService(indexes));
    DirectAccessService.addTo(builder, indexes, mode);
    return builder;
  }
}
