package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.coordinator.LocalCoordinator;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.DescribeClusterRequest;
import dev.ringfetch.index.v1.DescribeClusterResponse;
import dev.ringfetch.index.v1.DropIndexRequest;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.ListIndexesRequest;
import dev.ringfetch.index.v1.SnapshotRequest;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A cluster of nodes with data directories in this process, over real connections. */
final class DiskClusterTest {
  /** Three snapshots of 8 MiB, what is written meanwhile, and three segments of 32 MiB. */
  private static final long DISK_LIMIT = 160L << 20;

  @TempDir private Path directory;
  private final LocalCoordinator.Truth truth = new LocalCoordinator.Truth();
  private final List<ClusterMember> members = new ArrayList<>();

  private void start(String... names) throws Exception {
    for (final String name : names) {
      final Path data = name.isEmpty() ? null : directory.resolve(name);
      members.add(new ClusterMember(truth.connect(), ClusterMember.memory(data)));
    }
    await(description -> description.getNodesCount() == members.size());
  }

  @AfterEach
  void stop() {
    members.forEach(ClusterMember::close);
    members.clear();
  }

  private <T> T ask(
      ClusterMember member, Function<IndexAdminGrpc.IndexAdminBlockingStub, T> question) {
    return member.ask(question);
  }

  private DescribeClusterResponse describe() {
    return describe(members.get(0));
  }

  private DescribeClusterResponse describe(ClusterMember member) {
    return ask(member, stub -> stub.describeCluster(DescribeClusterRequest.getDefaultInstance()));
  }

  private void await(Predicate<DescribeClusterResponse> condition) throws Exception {
    members.get(0).await(30, condition);
  }

  /** Ends all nodes, starts some, and waits until they serve. */
  private void startAnew(String... names) throws Exception {
    final long epoch = describe().getGroups(0).getEpoch();
    stop();
    start(names);
    await(
        description ->
            members.stream()
                .map(this::describe)
                .anyMatch(
                    seen ->
                        seen.getGroupsCount() > 0
                            && seen.getGroups(0).getEpoch() > epoch
                            && seen.getGroups(0).getRole().equals("LEADING")));
  }

  private void create(String index, Durability durability) {
    ask(
        members.get(0),
        stub ->
            stub.createIndex(
                CreateIndexRequest.newBuilder()
                    .setIndex(index)
                    .setKind(IndexKind.ORDERED)
                    .setDurability(durability)
                    .build()));
  }

  private IndexClient connect() {
    final String targets = String.join(",", members.stream().map(ClusterMember::address).toList());
    return IndexClient.builder().target(targets).deadline(Duration.ofSeconds(20)).build();
  }

  private static OrderedIndex<String, Long> ages(IndexClient client) {
    return client.ordered("ages", Codec.string(), Codec.int64());
  }

  @Test
  void entriesOutliveAllNodes() throws Exception {
    start("a", "b", "c");
    create("ages", Durability.DISK);
    try (IndexClient client = connect()) {
      for (long i = 0; i < 300; i++) {
        ages(client).put("k" + i, i);
      }
      ages(client).remove("k7");
    }

    startAnew("a", "b", "c");
    try (IndexClient client = connect()) {
      assertEquals(299, ages(client).count());
      assertTrue(ages(client).get("k7").isEmpty());
      for (long i = 10; i < 300; i++) {
        assertEquals(i, ages(client).get("k" + i).orElseThrow());
      }
      ages(client).put("k7", 77L);
    }

    startAnew("c"); // which was the last one to end; it waits for the others, then goes on alone
    try (IndexClient client = connect()) {
      assertEquals(77L, ages(client).get("k7").orElseThrow());
      ages(client).put("k8", 88L);
    }
    start("a", "b"); // whose logs are shorter
    await(ClusterMember.isWhole(3));
    try (IndexClient client = connect()) {
      assertEquals(88L, ages(client).get("k8").orElseThrow());
      assertEquals(300, ages(client).count());
    }
  }

  @Test
  void aMemberComesBackWithItsLog() throws Exception {
    start("a", "b", "c");
    create("ages", Durability.DISK);
    try (IndexClient client = connect()) {
      for (long i = 0; i < 100; i++) {
        ages(client).put("k" + i, i);
      }
    }
    members.remove(2).close();
    await(ClusterMember.isWhole(2));
    try (IndexClient client = connect()) {
      ages(client).put("k1", 11L);
    }
    start("c");
    await(ClusterMember.isWhole(3));
    startAnew("c"); // alone: it has what the others have
    try (IndexClient client = connect()) {
      assertEquals(11L, ages(client).get("k1").orElseThrow());
      assertEquals(100, ages(client).count());
    }
    start("d"); // which gets a snapshot, and writes it
    await(ClusterMember.isWhole(2));
    startAnew("d");
    try (IndexClient client = connect()) {
      assertEquals(11L, ages(client).get("k1").orElseThrow());
      assertEquals(100, ages(client).count());
    }
  }

  /** Bytes of a node's data directory. */
  private long used(String name) throws IOException {
    long bytes = 0;
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory.resolve(name))) {
      for (final Path file : files) {
        bytes += file.toFile().length(); // 0: it was removed meanwhile
      }
    }
    return bytes;
  }

  private boolean hasFirstSegment(String name) {
    return Files.exists(directory.resolve(name).resolve("journal-0000000001"));
  }

  private OrderedIndex<String, String> texts(IndexClient client) {
    return client.ordered("texts", Codec.string(), Codec.string());
  }

  private void checkTexts(int end) {
    try (IndexClient client = connect()) {
      assertEquals(40, texts(client).count());
      for (int i = end - 40; i < end; i++) {
        assertTrue(texts(client).get("k" + i % 40).orElseThrow().startsWith(i + "x"), "i=" + i);
      }
    }
  }

  private int putText(IndexClient client, int number) {
    final String text = number + "x".repeat(number % 2 == 0 ? 200 : 400_000);
    texts(client).put("k" + number % 40, text);
    return text.length();
  }

  @Tag("slow")
  @Test
  void disksOfLeaderAndMembersAreBounded() throws Exception {
    start("a", "b", "c");
    create("texts", Durability.DISK);
    int end = 0;
    try (IndexClient client = connect()) {
      for (long bytes = 0; bytes < DISK_LIMIT + DISK_LIMIT / 4; ) {
        bytes += putText(client, end++);
      }
      for (final String name : List.of("a", "b", "c")) {
        final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (used(name) > DISK_LIMIT || hasFirstSegment(name)) {
          assertTrue(System.nanoTime() - endNs < 0, name + " " + used(name));
          putText(client, end++); // slow snapshots are followed by others, if more is written
          Thread.sleep(50);
        }
      }
    }
    startAnew("a", "b", "c");
    checkTexts(end);
    startAnew("c"); // which was the last one to end
    checkTexts(end);
  }

  private void drop(String index) {
    final DropIndexRequest request = DropIndexRequest.newBuilder().setIndex(index).build();
    assertTrue(ask(members.get(0), stub -> stub.dropIndex(request)).getExisted());
  }

  /** Bytes of the memory of all indexes of a node. */
  private long memoryUsed(ClusterMember member) {
    return ask(member, stub -> stub.listIndexes(ListIndexesRequest.getDefaultInstance()))
        .getIndexes(0)
        .getMemoryUsed();
  }

  private long snapshotBytes(ClusterMember member) {
    return ask(member, stub -> stub.snapshot(SnapshotRequest.getDefaultInstance())).getBytes();
  }

  private void putTexts() {
    try (IndexClient client = connect()) {
      for (int i = 0; i < 40; i++) {
        texts(client).put("k" + i, "x".repeat(100_000));
      }
    }
  }

  @Test
  void anIndexThatWasDroppedMeanwhileLeavesTheNode() throws Exception {
    start("a", "b", "c");
    create("kept", Durability.DISK);
    create("texts", Durability.DISK);
    putTexts();
    assertTrue(snapshotBytes(members.get(2)) > 4_000_000);
    members.remove(2).close();
    drop("texts");

    start("c");
    await(ClusterMember.isWhole(3));
    final ClusterMember back = members.get(2);
    assertTrue(memoryUsed(back) < 4_000_000, () -> "used=" + memoryUsed(back));
    assertTrue(snapshotBytes(back) < 4_000_000);
    create("texts", Durability.DISK); // another one
    try (IndexClient client = connect()) {
      assertEquals(0, texts(client).count());
    }
  }

  @Test
  void aNodeOfAnotherClusterIsRefusedAndKeepsAll() throws Exception {
    start("a");
    create("texts", Durability.DISK);
    putTexts();
    stop();
    try (ClusterMember refused =
        new ClusterMember(
            new LocalCoordinator.Truth().connect(), ClusterMember.memory(directory.resolve("a")))) {
      final String reason = refused.awaitRefusal();
      assertTrue(reason.contains("is a node of cluster="), reason);
      assertEquals(0, describe(refused).getNodesCount());
    }
    start("a");
    await(ClusterMember.isWhole(1));
    try (IndexClient client = connect()) {
      assertEquals(40, texts(client).count());
    }
  }

  @Test
  void levelsThatCannotBeAreRefused() throws Exception {
    start("");
    assertEquals(
        Status.Code.FAILED_PRECONDITION,
        assertThrows(StatusRuntimeException.class, () -> create("ages", Durability.DISK))
            .getStatus()
            .getCode());
    assertEquals(
        Status.Code.FAILED_PRECONDITION,
        assertThrows(StatusRuntimeException.class, () -> create("ages", Durability.INTERVAL))
            .getStatus()
            .getCode());
    assertEquals(
        Status.Code.FAILED_PRECONDITION,
        assertThrows(StatusRuntimeException.class, () -> create("ages", Durability.LEADER_DISK))
            .getStatus()
            .getCode());
    create("ages", Durability.MEMORY);
  }
}
