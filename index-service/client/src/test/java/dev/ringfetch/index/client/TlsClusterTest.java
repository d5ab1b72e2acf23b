package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.coordinator.LocalCoordinator;
import dev.ringfetch.index.rights.Rights;
import dev.ringfetch.index.service.IndexMemory;
import dev.ringfetch.index.tls.TlsFiles;
import dev.ringfetch.index.v1.DescribeClusterRequest;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.ListIndexesRequest;
import dev.ringfetch.rpc.Authority;
import io.grpc.Grpc;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
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

  /** A node may ask others what they know; its certificate is no way around the rights of users. */
  @Test
  void nodesAreNoUsers() throws Exception {
    final Path users = directory.resolve("users");
    Files.writeString(users, "ann " + RightsTest.HASH + " admin:a*\nbob certificate read:b\n");
    Files.setPosixFilePermissions(users, PosixFilePermissions.fromString("rw-------"));
    for (int i = 0; i < 2; i++) {
      members.add(
          new ClusterMember(
              truth.connect(),
              IndexMemory.ofProcess(64L << 20),
              files(AUTHORITY),
              new Rights(users)));
    }
    members.get(0).await(WAIT_SECONDS, description -> description.getNodesCount() == 2);
    final TlsFiles none = new TlsFiles(null, null, AUTHORITY.write(directory.resolve("ca.pem")));
    try (IndexClient client =
        IndexClient.builder()
            .target(String.join(",", members.stream().map(ClusterMember::address).toList()))
            .credentials(none.channel())
            .credentials("ann", RightsTest.PASSWORD)
            .deadline(Duration.ofSeconds(WAIT_SECONDS))
            .build()) {
      final HashIndex<String, Long> index = client.hash("a", Codec.string(), Codec.int64());
      index.put("k", 1L);
      members.get(0).await(WAIT_SECONDS, ClusterMember.isWhole(2)); // asked as a node
      assertEquals(1L, index.get("k").orElseThrow());
      final IndexException denied =
          assertThrows(
              IndexException.class,
              () -> client.hash("b", Codec.string(), Codec.int64()).put("k", 1L));
      assertEquals(Status.Code.PERMISSION_DENIED, denied.code());
    }
    for (final ClusterMember member : members) {
      assertEquals(Status.Code.UNAUTHENTICATED, refusal(member.channel(), false));
      assertEquals(1, member.describe().getGroupsCount());
      for (final String stranger : new String[] {"ann", "nobody"}) { // of their authority
        assertEquals(Status.Code.UNAUTHENTICATED, refusal(member, stranger));
      }
      assertEquals(Status.Code.OK, refusal(member, "bob")); // and sees what bob may read
    }
  }

  /** What becomes of the questions of a node, made with a certificate that is for none. */
  private Status.Code refusal(ClusterMember member, String name) throws Exception {
    final Path certificate = directory.resolve("stranger.pem");
    final Path key = directory.resolve("stranger-key.pem");
    AUTHORITY.issue(name, name + ".example").write(certificate, key);
    final ManagedChannel channel =
        Grpc.newChannelBuilder(
                member.address(),
                new TlsFiles(certificate, key, directory.resolve("ca.pem")).channel())
            .build();
    try {
      return refusal(channel, true);
    } finally {
      channel.shutdownNow();
    }
  }

  private static Status.Code refusal(ManagedChannel channel, boolean describes) {
    final IndexAdminGrpc.IndexAdminBlockingStub stub =
        IndexAdminGrpc.newBlockingStub(channel).withDeadlineAfter(WAIT_SECONDS, TimeUnit.SECONDS);
    try {
      if (describes) {
        assertEquals(
            0, stub.describeCluster(DescribeClusterRequest.getDefaultInstance()).getGroupsCount());
      } else {
        assertTrue(stub.listIndexes(ListIndexesRequest.getDefaultInstance()).isInitialized());
      }
      return Status.Code.OK;
    } catch (StatusRuntimeException e) {
      return e.getStatus().getCode();
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
