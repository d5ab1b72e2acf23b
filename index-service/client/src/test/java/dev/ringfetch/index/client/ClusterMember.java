package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.IndexServer;
import dev.ringfetch.index.coordinator.Coordinator;
import dev.ringfetch.index.rights.Rights;
import dev.ringfetch.index.service.ClusterNode;
import dev.ringfetch.index.service.DirectAccessService;
import dev.ringfetch.index.service.IndexMemory;
import dev.ringfetch.index.service.IndexMemoryContext;
import dev.ringfetch.index.service.Indexes;
import dev.ringfetch.index.service.ReplicationPath;
import dev.ringfetch.index.tls.TlsFiles;
import dev.ringfetch.index.v1.DescribeClusterRequest;
import dev.ringfetch.index.v1.DescribeClusterResponse;
import dev.ringfetch.index.v1.GroupDescription;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.InsecureServerCredentials;
import io.grpc.ManagedChannel;
import io.grpc.ServerCredentials;
import io.grpc.protobuf.services.HealthStatusManager;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Predicate;

/** A node of a cluster in this process, with its server. */
class ClusterMember implements AutoCloseable {
  private final Indexes indexes;
  private final ClusterNode node;
  private final RingServer server;
  private final ManagedChannel channel;
  private final CompletableFuture<String> refusal = new CompletableFuture<>();

  /** Starts a node that grants no direct reads, and chooses how its records go. */
  ClusterMember(Coordinator coordinator, IndexMemory memory) throws Exception {
    this(coordinator, memory, ReplicationPath.AUTO, false);
  }

  /**
   * Starts a node.
   *
   * @param memory which is not recovered yet, and closed with the node
   * @param path of its records
   * @param grantsReads whether clients may read its memory
   */
  ClusterMember(
      Coordinator coordinator, IndexMemory memory, ReplicationPath path, boolean grantsReads)
      throws Exception {
    this(coordinator, memory, path, grantsReads, null, null);
  }

  /** Starts a node over TLS. */
  ClusterMember(Coordinator coordinator, IndexMemory memory, TlsFiles tls) throws Exception {
    this(coordinator, memory, tls, null);
  }

  /** As above, whose callers have these rights; null: each may do everything. */
  ClusterMember(Coordinator coordinator, IndexMemory memory, TlsFiles tls, Rights rights)
      throws Exception {
    this(coordinator, memory, ReplicationPath.AUTO, true, tls, rights);
  }

  private ClusterMember(
      Coordinator coordinator,
      IndexMemory memory,
      ReplicationPath path,
      boolean grantsReads,
      TlsFiles tls,
      Rights rights)
      throws Exception {
    indexes = Indexes.unrecovered(memory);
    node =
        new ClusterNode(indexes, coordinator, 3, "boot", null)
            .replication(path, IndexMemoryContext.FABRICS_DEFAULT);
    if (tls != null) {
      node.credentials(tls.channel());
    }
    if (rights != null) {
      indexes.rights(rights);
    }
    final RingServerBuilder builder =
        IndexServer.addServices(
                RingServerBuilder.newServerBuilderForPort(0, credentials(tls, rights != null)),
                indexes,
                new HealthStatusManager())
            .addService(node.services().get(0));
    if (rights != null) {
      builder.addTransportFilter(rights.connections());
    }
    if (grantsReads) {
      DirectAccessService.addTo(builder, indexes, DirectAccessService.Mode.UNLESS_INTERCEPTED);
    }
    server = builder.build().start();
    indexes.recoverAndServe();
    node.start(address(), () -> {}, refusal::complete);
    channel =
        Grpc.newChannelBuilder(
                address(), tls == null ? InsecureChannelCredentials.create() : tls.channel())
            .build();
  }

  private static ServerCredentials credentials(TlsFiles tls, boolean hasUsers) {
    if (tls == null) {
      return InsecureServerCredentials.create();
    }
    return hasUsers ? tls.serverOfUsers() : tls.server();
  }

  /**
   * Memory that is shared where it can be, with a directory whose journal snapshots shorten soon.
   *
   * @param data null: without a directory
   */
  static IndexMemory memory(Path data) throws IOException {
    return IndexMemory.shared(
        new IndexMemoryContext()
            .budget(64L << 20)
            .fallback(true)
            .dataDirectory(data)
            .snapshotAfter(4L << 20));
  }

  final String address() {
    return "localhost:" + server.getPort();
  }

  /** A channel to this node alone. */
  final ManagedChannel channel() {
    return channel;
  }

  /** Waits until the node has refused to take part; returns its reason. */
  final String awaitRefusal() throws Exception {
    return refusal.get(60, TimeUnit.SECONDS);
  }

  /** Asks the node for what its service says. */
  final <T> T ask(Function<IndexAdminGrpc.IndexAdminBlockingStub, T> question) {
    return question.apply(
        IndexAdminGrpc.newBlockingStub(channel).withDeadlineAfter(20, TimeUnit.SECONDS));
  }

  /** The cluster, as the node sees it. */
  final DescribeClusterResponse describe() {
    return ask(stub -> stub.describeCluster(DescribeClusterRequest.getDefaultInstance()));
  }

  /** Waits until a condition holds for the cluster, as the node sees it. */
  final void await(int seconds, Predicate<DescribeClusterResponse> condition)
      throws InterruptedException {
    final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    while (!condition.test(describe())) {
      assertTrue(System.nanoTime() - endNs < 0, () -> describe().toString());
      Thread.sleep(10);
    }
  }

  /** Whether the first group has an established configuration of so many members. */
  static Predicate<DescribeClusterResponse> isWhole(int count) {
    return description -> {
      final GroupDescription group = description.getGroups(0);
      return group.getEstablished() && group.getMembersCount() == count;
    };
  }

  @Override
  public final void close() {
    end(false);
  }

  /** Ends the node as a signal to end does, or as its death. */
  final void end(boolean inOrder) {
    if (inOrder) {
      node.stop(unsaved -> {});
    } else {
      node.close();
    }
    channel.shutdownNow();
    server.shutdownNow();
    try {
      assertTrue(server.awaitTermination(10, TimeUnit.SECONDS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    indexes.close();
  }
}
