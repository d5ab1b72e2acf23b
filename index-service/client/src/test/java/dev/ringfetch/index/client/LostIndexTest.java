package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.coordinator.LocalCoordinator;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.GroupDescription;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.ListIndexesRequest;
import dev.ringfetch.index.v1.RecoverIndexRequest;
import dev.ringfetch.index.v1.WatchRequest;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Indexes of a cluster that have lost all nodes which had all, in this process. */
final class LostIndexTest {
  @TempDir private Path directory;
  private final LocalCoordinator.Truth truth = new LocalCoordinator.Truth();
  private final Map<String, ClusterMember> members = new TreeMap<>();

  private void start(boolean isOnDisk, String... names) throws Exception {
    for (final String name : names) {
      final Path data = isOnDisk ? directory.resolve(name) : null;
      members.put(name, new ClusterMember(truth.connect(), ClusterMember.memory(data)));
    }
    await(() -> any().describe().getNodesCount() == members.size());
  }

  private ClusterMember any() {
    return members.values().iterator().next();
  }

  private void end(String... names) {
    for (final String name : names) {
      members.remove(name).close();
    }
  }

  @AfterEach
  void endAll() {
    members.values().forEach(ClusterMember::close);
  }

  private static void await(BooleanSupplier condition) throws Exception {
    final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() - endNs < 0);
      Thread.sleep(10);
    }
  }

  private GroupDescription group(ClusterMember member) {
    return member.describe().getGroups(0);
  }

  private void awaitMembers(int count) throws Exception {
    await(
        () ->
            members.values().stream()
                .map(this::group)
                .anyMatch(
                    group ->
                        group.getRole().equals("LEADING")
                            && group.getEstablished()
                            && group.getMembersCount() == count));
  }

  private void create(Durability durability) {
    any()
        .ask(
            stub ->
                stub.createIndex(
                    CreateIndexRequest.newBuilder()
                        .setIndex("ages")
                        .setKind(IndexKind.HASH)
                        .setDurability(durability)
                        .build()));
  }

  /** Accepts the loss, as the group is seen now; gives the new incarnation. */
  private long recover(long node) {
    final GroupDescription seen = group(any());
    final RecoverIndexRequest request =
        RecoverIndexRequest.newBuilder()
            .setIndex("ages")
            .setStateVersion(seen.getStateVersion())
            .setEpoch(seen.getEpoch())
            .setNode(node)
            .build();
    return any().ask(stub -> stub.recoverIndex(request)).getIncarnation();
  }

  /** Whether a node knows what it has, and that the group is lost. */
  private boolean isSettled(GroupDescription group) {
    return group.getLost()
        && !group.getMayHaveMore()
        && group.getStateVersion() == group(any()).getStateVersion();
  }

  private ClusterMember best() {
    return members.values().stream()
        .max(
            Comparator.<ClusterMember>comparingLong(member -> group(member).getLogPosition())
                .thenComparingLong(member -> group(member).getLogEpoch()))
        .orElseThrow();
  }

  private void refuses(long node) {
    assertEquals(
        Status.Code.FAILED_PRECONDITION,
        assertThrows(StatusRuntimeException.class, () -> recover(node)).getStatus().getCode());
  }

  private IndexClient connect() {
    final String targets =
        String.join(",", members.values().stream().map(ClusterMember::address).toList());
    return IndexClient.builder().target(targets).deadline(Duration.ofSeconds(20)).build();
  }

  private static HashIndex<String, Long> ages(IndexClient client) {
    return client.hash("ages", Codec.string(), Codec.int64());
  }

  private long incarnation() {
    return any()
        .ask(stub -> stub.listIndexes(ListIndexesRequest.getDefaultInstance()))
        .getIndexes(0)
        .getIncarnation();
  }

  /** The token of the first response of a watch at the leader. */
  private ByteString watchFrom(ByteString token) {
    final ClusterMember leader =
        members.values().stream()
            .filter(member -> group(member).getRole().equals("LEADING"))
            .findFirst()
            .orElseThrow();
    final ManagedChannel channel =
        NettyChannelBuilder.forTarget(leader.address()).usePlaintext().build();
    try {
      return IndexGrpc.newBlockingStub(channel)
          .withDeadlineAfter(20, TimeUnit.SECONDS)
          .watch(WatchRequest.newBuilder().setIndex("ages").setToken(token).build())
          .next()
          .getToken();
    } finally {
      channel.shutdownNow();
    }
  }

  @Test
  void anIndexGoesOnWithWhatAnOlderDirectoryHas() throws Exception {
    start(true, "a", "b", "c");
    create(Durability.DISK);
    try (IndexClient client = connect()) {
      for (long i = 0; i < 100; i++) {
        ages(client).put("k" + i, i);
      }
    }
    end("a", "b");
    awaitMembers(1);
    long last = 0;
    try (IndexClient client = connect()) { // c alone has it
      for (long i = 0; i < 50; i++) {
        last = Math.max(last, ages(client).put("late" + i, i));
      }
    }
    refuses(0);
    final ByteString token = watchFrom(ByteString.EMPTY);
    assertFalse(watchFrom(token).isEmpty());
    final long incarnation = incarnation();
    end("c"); // its directory is lost
    start(true, "a", "b");
    await(() -> group(any()).getLost());
    final GroupDescription ofOne = group(members.get("a"));
    assertTrue(ofOne.getLogEpoch() > 0 && ofOne.getLogEnd() >= 100, ofOne::toString);

    await(() -> members.values().stream().allMatch(member -> isSettled(group(member))));
    final long node = best().describe().getNode();
    refuses(0);
    final long next = recover(node); // two nodes have a log
    assertNotEquals(incarnation, next);
    awaitMembers(2);
    assertFalse(group(any()).getLost());
    refuses(node);
    assertEquals(next, incarnation());
    assertEquals(
        Status.Code.ABORTED,
        assertThrows(StatusRuntimeException.class, () -> watchFrom(token)).getStatus().getCode());
    try (IndexClient client = connect()) {
      assertEquals(100, ages(client).count());
      assertTrue(ages(client).get("late7").isEmpty());
      assertTrue(ages(client).put("late7", 70L) > last, "a version twice");
    }

    start(true, "c"); // comes back after all, with what was given up
    awaitMembers(3);
    end("a", "b");
    awaitMembers(1);
    try (IndexClient client = connect()) {
      assertEquals(101, ages(client).count());
      assertEquals(70L, ages(client).get("late7").orElseThrow());
    }
  }

  @Test
  void anIndexInMemoryBeginsAnew() throws Exception {
    start(false, "a", "b");
    create(Durability.MEMORY);
    long last = 0;
    try (IndexClient client = connect()) {
      for (long i = 0; i < 50; i++) {
        last = Math.max(last, ages(client).put("k" + i, i));
      }
    }
    final long incarnation = incarnation();
    end("a", "b");
    start(false, "c", "d");
    await(() -> members.values().stream().allMatch(member -> isSettled(group(member))));
    refuses(0);
    assertNotEquals(incarnation, recover(any().describe().getNode())); // which has no log
    awaitMembers(2);
    try (IndexClient client = connect()) {
      assertEquals(0, ages(client).count());
      assertTrue(ages(client).put("k1", 1L) > last, "a version twice");
    }
    assertEquals(
        IndexKind.HASH,
        any()
            .ask(stub -> stub.listIndexes(ListIndexesRequest.getDefaultInstance()))
            .getIndexes(0)
            .getKind());
  }
}
