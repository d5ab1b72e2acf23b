package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.IndexServer;
import dev.ringfetch.index.coordinator.LocalCoordinator;
import dev.ringfetch.index.service.ClusterNode;
import dev.ringfetch.index.service.IndexMemory;
import dev.ringfetch.index.service.Indexes;
import dev.ringfetch.index.v1.DescribeClusterRequest;
import dev.ringfetch.index.v1.DescribeClusterResponse;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.protobuf.services.HealthStatusManager;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** A node of a cluster in this process, with its server. */
final class DiskMember implements AutoCloseable {
  private final Indexes indexes;
  private final ClusterNode node;
  private final RingServer server;

  DiskMember(LocalCoordinator coordinator, Path data) throws Exception {
    indexes =
        Indexes.unrecovered(
            IndexMemory.unrecovered(
                new IndexMemory.Context()
                    .budget(64L << 20)
                    .fallback(true)
                    .dataDirectory(data)
                    .snapshotAfter(4L << 20)));
    node = new ClusterNode(indexes, coordinator, 3, "boot", null);
    server =
        IndexServer.addServices(RingServerBuilder.forPort(0), indexes, new HealthStatusManager())
            .addService(node.service())
            .build()
            .start();
    indexes.recoverAndServe();
    node.start(address(), () -> {});
  }

  String address() {
    return "localhost:" + server.getPort();
  }

  /** Asks the node for what its service says. */
  <T> T ask(Function<IndexAdminGrpc.IndexAdminBlockingStub, T> question) {
    final ManagedChannel channel = NettyChannelBuilder.forTarget(address()).usePlaintext().build();
    try {
      return question.apply(
          IndexAdminGrpc.newBlockingStub(channel).withDeadlineAfter(20, TimeUnit.SECONDS));
    } finally {
      channel.shutdownNow();
    }
  }

  /** The cluster, as the node sees it. */
  DescribeClusterResponse describe() {
    return ask(stub -> stub.describeCluster(DescribeClusterRequest.getDefaultInstance()));
  }

  @Override
  public void close() {
    node.close();
    server.shutdownNow();
    try {
      assertTrue(server.awaitTermination(10, TimeUnit.SECONDS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    indexes.close();
  }
}
