package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.coordinator.LocalCoordinator;
import dev.ringfetch.index.service.IndexMemory;
import dev.ringfetch.index.tls.TlsFiles;
import dev.ringfetch.index.v1.DescribeClusterRequest;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.rpc.Authority;
import io.grpc.Grpc;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A cluster whose nodes prove themselves to each other. */
@Timeout(300)
final class TlsClusterTest {
  private static final Authority AUTHORITY = new Authority("authority");
  private static final Authority OTHER = new Authority("other");
  private static final int WAIT_SECONDS = 60;

  private final LocalCoordinator.Truth truth = new LocalCoordinator.Truth();
  private final List<ClusterMember> members = new ArrayList<>();
  @TempDir Path directory;

  private TlsFiles files(Authority authority) throws IOException {
    final Path certificate = directory.resolve("cert.pem");
    final Path key = directory.resolve("key.pem");
    authority.issue("node").write(certificate, key);
    return new TlsFiles(certificate, key, authority.write(directory.resolve("ca.pem")));
  }

  private ClusterMember add(Authority authority) throws Exception {
    final ClusterMember member =
        new ClusterMember(truth.connect(), IndexMemory.ofProcess(64L << 20), files(authority));
    members.add(member);
    return member;
  }

  @AfterEach
  void stop() {
    members.forEach(ClusterMember::close);
  }

  private IndexClient connect() throws IOException {
    return IndexClient.builder()
        .target(String.join(",", members.stream().map(ClusterMember::address).toList()))
        .credentials(files(AUTHORITY).channel())
        .deadline(Duration.ofSeconds(WAIT_SECONDS))
        .build();
  }

  private ClusterMember leader() {
    final long leader = members.get(0).describe().getGroups(0).getLeader();
    return members.stream()
        .filter(member -> member.describe().getNode() == leader)
        .findFirst()
        .orElseThrow();
  }

  @Test
  void entriesOutliveTheirLeader() throws Exception {
    for (int i = 0; i < 3; i++) {
      add(AUTHORITY);
    }
    members.get(0).await(WAIT_SECONDS, description -> description.getNodesCount() == 3);
    try (IndexClient client = connect()) {
      final HashIndex<String, Long> index = client.hash("a", Codec.string(), Codec.int64());
      for (long i = 0; i < 100; i++) {
        index.put("k" + i, i);
      }
      final ClusterMember first = leader();
      first.await(WAIT_SECONDS, ClusterMember.isWhole(3));
      members.remove(first);
      first.close();
      for (long i = 0; i < 100; i++) {
        assertEquals(i, index.get("k" + i).orElseThrow());
      }
      index.put("k0", -1L);
      assertEquals(-1L, index.get("k0").orElseThrow());
    }
  }

  @Test
  void aNodeOfAnotherAuthorityGetsNoRecords() throws Exception {
    add(AUTHORITY);
    add(AUTHORITY);
    members.get(0).await(WAIT_SECONDS, description -> description.getNodesCount() == 2);
    try (IndexClient client = connect()) {
      final HashIndex<String, Long> index = client.hash("a", Codec.string(), Codec.int64());
      index.put("k", 0L);
      members.get(0).await(WAIT_SECONDS, ClusterMember.isWhole(2));
      final ClusterMember stranger = add(OTHER);
      members
          .get(0)
          .await(WAIT_SECONDS, description -> description.getNodesCount() == 3); // as announced
      for (final ClusterMember known : members.subList(0, 2)) {
        assertRefused(known.address(), OTHER);
      }
      assertRefused(stranger.address(), AUTHORITY);
      for (long i = 1; i < 100; i++) {
        index.put("k", i);
      }
      assertEquals(99L, index.get("k").orElseThrow());
      assertTrue(
          ClusterMember.isWhole(2).test(leader().describe()), () -> leader().describe().toString());
    }
  }

  /** Asks a node with a certificate of an authority, as another node would. */
  private void assertRefused(String address, Authority authority) throws IOException {
    final ManagedChannel channel =
        Grpc.newChannelBuilder(address, files(authority).channel()).build();
    try {
      final StatusRuntimeException refused =
          assertThrows(
              StatusRuntimeException.class,
              () ->
                  IndexAdminGrpc.newBlockingStub(channel)
                      .withDeadlineAfter(WAIT_SECONDS, TimeUnit.SECONDS)
                      .describeCluster(DescribeClusterRequest.getDefaultInstance()));
      assertEquals(Status.Code.UNAVAILABLE, refused.getStatus().getCode());
    } finally {
      channel.shutdownNow();
    }
  }
}
