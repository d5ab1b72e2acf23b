package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricProviders;
import dev.ringfetch.index.coordinator.LocalCoordinator;
import dev.ringfetch.index.direct.DirectContext;
import dev.ringfetch.index.direct.DirectLook;
import dev.ringfetch.index.direct.DirectReader;
import dev.ringfetch.index.direct.DirectScan;
import dev.ringfetch.index.direct.DirectSearch;
import dev.ringfetch.index.direct.DirectSink;
import dev.ringfetch.index.direct.DirectValue;
import dev.ringfetch.index.service.IndexMemory;
import dev.ringfetch.index.service.IndexMemoryContext;
import dev.ringfetch.index.service.ReplicationPath;
import dev.ringfetch.index.v1.DescribeClusterResponse;
import dev.ringfetch.index.v1.DirectAccessGrpc;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.FabricHint;
import dev.ringfetch.index.v1.GrantRequest;
import dev.ringfetch.index.v1.GrantResponse;
import dev.ringfetch.index.v1.GroupDescription;
import dev.ringfetch.index.v1.NearestRequest;
import dev.ringfetch.index.v1.NearestResponse;
import dev.ringfetch.index.v1.ScanRequest;
import dev.ringfetch.index.v1.SearchRequest;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Direct reads of a replicated index: three nodes in this process, over real connections. */
@Timeout(120)
final class DirectClusterTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 76);

  private static final SearchRequest EVERYWHERE =
      SearchRequest.newBuilder().setIntersects(new Box(0, 0, 1, 1).message()).build();

  @TempDir Path directory;

  private final LocalCoordinator.Truth truth = new LocalCoordinator.Truth();
  private final List<ClusterMember> members = new ArrayList<>();

  /** A node whose memory clients may read; without a context it is of its process alone. */
  private void add(IndexMemoryContext memory) throws Exception {
    members.add(
        new ClusterMember(
            truth.connect(),
            memory == null
                ? IndexMemory.ofProcess(64L << 20)
                : IndexMemory.shared(memory.budget(64L << 20)),
            ReplicationPath.AUTO,
            true));
  }

  private static IndexMemoryContext memory() {
    return new IndexMemoryContext().fabrics("shm");
  }

  private void start(int count) throws Exception {
    for (int i = 0; i < count; i++) {
      add(memory());
    }
    await(() -> members.get(0).describe().getNodesCount() == count);
  }

  private void startOnDisk(int count) throws Exception {
    for (int i = 0; i < count; i++) {
      add(onDisk(i));
    }
    await(() -> members.get(0).describe().getNodesCount() == count);
  }

  private IndexMemoryContext onDisk(int node) {
    return memory().dataDirectory(directory.resolve("node" + node)).durability(Durability.DISK);
  }

  @AfterEach
  void stop() {
    members.forEach(ClusterMember::close);
  }

  private interface Condition {
    boolean holds();
  }

  private static void await(Condition condition) throws Exception {
    final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (!condition.holds()) {
      assertTrue(System.nanoTime() - endNs < 0);
      Thread.sleep(5);
    }
  }

  private String targets() {
    return String.join(",", members.stream().map(ClusterMember::address).toList());
  }

  private IndexClientBuilder builder() {
    return IndexClient.builder().target(targets()).deadline(Duration.ofSeconds(10));
  }

  private ClusterMember leader() {
    final DescribeClusterResponse description = members.get(0).describe();
    final GroupDescription group = description.getGroups(0);
    return members.stream()
        .filter(member -> member.describe().getNode() == group.getLeader())
        .findFirst()
        .orElseThrow();
  }

  private static ByteString key(int number) {
    return ByteString.copyFromUtf8("k" + number);
  }

  private static DirectReader open(ManagedChannel channel, String index) {
    return DirectReader.open(channel, index, new DirectContext().timeout(Duration.ofSeconds(10)));
  }

  /** An operator may let an index go on without its members, at whose gates the client looks. */
  @Test
  void aGrantIsForClientsThatLookAtGatesAndIsRenewed() throws Exception {
    startOnDisk(3);
    try (IndexClient client = builder().build()) {
      client.hash("a", Codec.string(), Codec.string()).put("k", "v");
    }
    final ManagedChannel channel = builder().buildChannel();
    try (Fabric fabric = FabricProviders.open("shm", new FabricContext())) {
      final GrantRequest request =
          GrantRequest.newBuilder()
              .setIndex("a")
              .addFabrics(
                  FabricHint.newBuilder()
                      .setFabric("shm")
                      .setHint(ByteString.copyFrom(fabric.hint())))
              .setLooksAtGates(true)
              .build();
      final var grants =
          DirectAccessGrpc.newBlockingStub(channel).withDeadlineAfter(30, TimeUnit.SECONDS);
      final GrantResponse granted = grants.grant(request);
      assertEquals(3, granted.getMembersCount());
      assertFalse(granted.getOutlivesServer());
      final StatusRuntimeException refused =
          assertThrows(
              StatusRuntimeException.class,
              () -> grants.grant(request.toBuilder().setLooksAtGates(false).build()));
      assertEquals(Status.Code.FAILED_PRECONDITION, refused.getStatus().getCode());
    } finally {
      channel.shutdownNow();
    }
  }

  @Test
  void readsAreDirectAtOneLeaderAndAtTheNext() throws Exception {
    start(3);
    final ManagedChannel channel = builder().buildChannel();
    try (IndexClient client = builder().build()) {
      final HashIndex<String, String> index = client.hash("a", Codec.string(), Codec.string());
      for (int i = 0; i < 100; i++) {
        index.put("k" + i, "v" + i);
      }
      try (DirectReader reader = open(channel, "a")) {
        final DirectValue value = new DirectValue();
        await(() -> reads(reader));
        final long calls = reader.callReads();
        for (int i = 0; i < 100; i++) {
          assertTrue(reader.get(key(i), value));
          assertEquals("v" + i, value.value().toStringUtf8());
        }
        assertFalse(reader.get(key(-1), value));
        assertEquals(calls, reader.callReads(), reader::obstacle);
        final ClusterMember first = leader();
        members.remove(first);
        first.close();
        index.put("k1", "new"); // by the next leader
        assertTrue(reader.get(key(1), value));
        assertEquals("new", value.value().toStringUtf8());
        final long direct = reader.directReads();
        await(() -> reads(reader) && reader.directReads() > direct);
      }
    } finally {
      channel.shutdownNow();
    }
  }

  /** The members count for their directories, and each is in the cluster again, as itself. */
  @Test
  void aProcessThatComesBackWithItsDirectoryTurnsReadersAway() throws Exception {
    startOnDisk(3);
    final ManagedChannel channel = builder().buildChannel();
    try (IndexClient client = builder().build()) {
      final OrderedIndex<String, String> index =
          client.ordered("a", Codec.string(), Codec.string());
      index.put("k1", "v1");
      try (DirectReader reader = open(channel, "a")) {
        await(() -> reads(reader));
        final int number = members.indexOf(leader());
        members.remove(number).close();
        index.put("k1", "v2"); // by the next leader
        final DirectValue value = new DirectValue();
        assertTrue(reader.get(key(1), value));
        assertEquals("v2", value.value().toStringUtf8());
        add(onDisk(number));
        await(() -> members.get(0).describe().getGroups(0).getMembersCount() == 3);
        final long direct = reader.directReads();
        await(() -> reads(reader) && reader.directReads() > direct);
        index.put("k1", "v3");
        assertTrue(reader.get(key(1), value));
        assertEquals("v3", value.value().toStringUtf8());
      }
    } finally {
      channel.shutdownNow();
    }
  }

  @Test
  void aScanReadsTheLeadersMemory() throws Exception {
    start(3);
    try (IndexClient client = builder().build()) {
      final OrderedIndex<String, Long> index = client.ordered("a", Codec.string(), Codec.int64());
      for (long i = 0; i < 500; i++) {
        index.put("k" + i, i);
      }
    }
    final ManagedChannel channel = builder().buildChannel();
    try (DirectReader reader = open(channel, "a")) {
      await(() -> reads(reader));
      final DirectScan scan = new DirectScan(ScanRequest.getDefaultInstance());
      final long before = reader.directReads();
      assertFalse(reader.scan(scan, entry -> true));
      assertEquals(500, reader.directReads() - before);
      assertEquals(0, reader.scanCalls());
    } finally {
      channel.shutdownNow();
    }
  }

  /**
   * The leader ends in the middle of a search, whose reader serves others meanwhile: so the search
   * goes on in the memory of the next leader, whose nodes are others. Entries move all the time.
   */
  @Test
  void searchesGoOnInTheNextLeadersMemory() throws Exception {
    System.out.println("ringfetch.seed=" + SEED);
    startOnDisk(3); // each directory in its first incarnation
    final Random random = new Random(SEED);
    final Map<String, Located<Long>> all = new HashMap<>();
    for (long i = 0; i < 4_000; i++) {
      all.put("k" + i, new Located<>(place(random), i));
    }
    final ManagedChannel channel = builder().buildChannel();
    final AtomicBoolean ending = new AtomicBoolean();
    try (IndexClient client = builder().build()) {
      final SpatialIndex<String, Long> places =
          client.spatial("places", Codec.string(), Codec.int64());
      places.putAll(all);
      final CompletableFuture<Long> moves =
          CompletableFuture.supplyAsync(() -> moveUntil(ending, places));
      try (DirectReader reader = open(channel, "places")) {
        await(() -> reads(reader));
        final DirectSearch search = new DirectSearch(EVERYWHERE);
        final Set<String> ids = new HashSet<>();
        final DirectSink sink =
            entry -> {
              assertTrue(ids.add(entry.key().toStringUtf8()), "twice");
              return ids.size() != 1_500;
            };
        assertEquals(DirectLook.FOUND, reader.search(search, sink));
        assertEquals(9, nearest(reader).getNeighborsCount());
        final ClusterMember first = leader();
        members.remove(first);
        first.close();
        final SpatialIndex<String, Long> direct = places.access(Access.DIRECT);
        assertEquals(9, direct.nearest(new Point(0.5, 0.5), 9).size());
        await(() -> reads(reader));
        DirectLook look;
        do {
          look = reader.search(search, sink);
        } while (look == DirectLook.FOUND);
        assertEquals(DirectLook.ABSENT, look, reader::obstacle);
        assertEquals(all.keySet(), ids);
        assertEquals(9, nearest(reader).getNeighborsCount());
        ending.set(true);
        assertTrue(moves.get(30, TimeUnit.SECONDS) > 0);
      }
    } finally {
      ending.set(true);
      channel.shutdownNow();
    }
  }

  /** In memory alone. */
  private static NearestResponse nearest(DirectReader reader) {
    return reader.nearest(
        NearestRequest.newBuilder().setPoint(new Point(0.5, 0.5).message()).setLimit(9).build());
  }

  private static Box place(Random random) {
    return Box.of(random.nextDouble(), random.nextDouble());
  }

  /** Moves one entry after the other; returns how many. */
  private static long moveUntil(AtomicBoolean ending, SpatialIndex<String, Long> places) {
    final Random random = new Random(SEED);
    long moves = 0;
    for (; !ending.get(); moves++) {
      final long moved = random.nextInt(4_000);
      places.put("k" + moved, place(random), moved);
    }
    return moves;
  }

  /** It cannot look at the gates of the others. */
  @Test
  void aChannelToTheLeaderAloneReadsByCalls() throws Exception {
    start(3);
    try (IndexClient client = builder().build()) {
      client.hash("a", Codec.string(), Codec.string()).put("k1", "v1");
    }
    final ManagedChannel channel =
        NettyChannelBuilder.forTarget(leader().address()).usePlaintext().build();
    try (DirectReader reader = open(channel, "a")) {
      assertTrue(reader.get(key(1), new DirectValue()));
      assertFalse(reader.isDirect());
      assertTrue(reader.obstacle().contains("another process is meant"), reader::obstacle);
    } finally {
      channel.shutdownNow();
    }
  }

  /** One whose memory is of its process alone, as on another host without RDMA. */
  @Test
  void aMemberWhoseGateIsNotReachedKeepsReadsOnCalls() throws Exception {
    start(2);
    add(null);
    await(() -> members.get(0).describe().getNodesCount() == 3);
    final ManagedChannel channel = builder().buildChannel();
    try (IndexClient client = builder().build()) {
      final HashIndex<String, String> index = client.hash("a", Codec.string(), Codec.string());
      index.put("k1", "v1");
      await(() -> members.get(0).describe().getGroups(0).getMembersCount() == 3);
      try (DirectReader reader = open(channel, "a")) {
        assertTrue(reader.get(key(1), new DirectValue()));
        assertFalse(reader.isDirect());
        assertTrue(reader.obstacle().contains("process alone"), reader::obstacle);
        assertEquals("v1", index.access(Access.DIRECT).get("k1").orElseThrow());
      }
    } finally {
      channel.shutdownNow();
    }
  }

  /** Reads once; returns whether the next read is direct. */
  private static boolean reads(DirectReader reader) {
    assertTrue(reader.get(key(1), new DirectValue()));
    return reader.isDirect();
  }
}
