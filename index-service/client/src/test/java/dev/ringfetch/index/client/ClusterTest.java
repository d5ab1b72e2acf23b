package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.coordinator.Coordinator;
import dev.ringfetch.index.coordinator.LocalCoordinator;
import dev.ringfetch.index.service.IndexMemory;
import dev.ringfetch.index.service.ReplicationPath;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.DescribeClusterResponse;
import dev.ringfetch.index.v1.DropIndexRequest;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.IndexDescription;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.ListIndexesRequest;
import dev.ringfetch.index.v1.MemberDescription;
import dev.ringfetch.index.v1.Trailers;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A cluster of three nodes in this process, over real connections. */
final class ClusterTest {
  private final LocalCoordinator.Truth truth = new LocalCoordinator.Truth();
  private final List<ClusterMember> members = new ArrayList<>();

  private void add(Coordinator coordinator, ReplicationPath path) throws Exception {
    members.add(new ClusterMember(coordinator, IndexMemory.ofProcess(64L << 20), path, false));
  }

  private void start(int count) throws Exception {
    for (int i = 0; i < count; i++) {
      add(truth.connect(), ReplicationPath.AUTO);
    }
    await(describe -> describe.getNodesCount() == count, members.get(0));
  }

  @AfterEach
  void stop() {
    members.forEach(ClusterMember::close);
  }

  private static void await(Predicate<DescribeClusterResponse> condition, ClusterMember member)
      throws Exception {
    member.await(20, condition);
  }

  private String targets() {
    return String.join(",", members.stream().map(ClusterMember::address).toList());
  }

  private IndexClient connect() {
    return IndexClient.builder().target(targets()).deadline(Duration.ofSeconds(10)).build();
  }

  private ClusterMember leader(String index) {
    final DescribeClusterResponse description = members.get(0).describe();
    final long leader =
        description.getGroupsList().stream()
            .filter(group -> group.getIndex().equals(index))
            .findFirst()
            .orElseThrow()
            .getLeader();
    return members.stream()
        .filter(member -> member.describe().getNode() == leader)
        .findFirst()
        .orElseThrow();
  }

  @Test
  void entriesOutliveTheirLeader() throws Exception {
    start(3);
    try (IndexClient client = connect()) {
      final OrderedIndex<String, Long> ages = client.ordered("ages", Codec.string(), Codec.int64());
      for (long i = 0; i < 200; i++) {
        ages.put("k" + i, i);
      }
      final ClusterMember first = leader("ages");
      await(ClusterMember.isWhole(3), first);
      members.remove(first);
      first.close();
      for (long i = 0; i < 200; i++) {
        assertEquals(i, ages.get("k" + i).orElseThrow());
      }
      ages.put("k0", -1L);
      add(truth.connect(), ReplicationPath.AUTO); // which joins, with a snapshot
      final ClusterMember second = leader("ages");
      await(ClusterMember.isWhole(3), second);
      members.remove(second);
      second.close();
      assertEquals(-1L, ages.get("k0").orElseThrow());
      assertEquals(200, ages.count());
      assertEquals(200, ages.scan(Range.all()).stream().count());

      assertEquals(111, ages.scan(Range.prefix("k1")).snapshot().stream().count());
      assertEquals(111, ages.deleteRange(Range.prefix("k1")));
    }
  }

  @Test
  void boxesOutliveTheirLeader() throws Exception {
    start(3);
    try (IndexClient client = connect()) {
      final SpatialIndex<String, Long> places =
          client.spatial("places", Codec.string(), Codec.int64());
      for (long i = 0; i < 300; i++) {
        places.put("p" + i, Box.of((double) i, 0), i);
      }
      final ClusterMember first = leader("places");
      await(ClusterMember.isWhole(3), first);
      members.remove(first);
      first.close();
      final Box some = new Box(100, -1, 199, 1);
      assertEquals(100, places.intersecting(some).toList().size());
      for (long i = 0; i < 300; i++) {
        places.put("p" + i, Box.of((double) i, 500), i);
      }
      places.remove("p150");
      add(truth.connect(), ReplicationPath.AUTO); // which joins, with a snapshot
      final ClusterMember second = leader("places");
      await(ClusterMember.isWhole(3), second);
      places.put("p151", Box.of(151, 0), -1L);
      members.remove(second);
      second.close();
      assertEquals(1, places.intersecting(some).toList().size());
      final Box moved = new Box(100, 499, 199, 501);
      assertEquals(98, places.intersecting(moved).toList().size());
      assertEquals(98, places.count(moved));
      assertEquals("p10", places.nearest(new Point(10, 499), 1).get(0).entry().key());
    }
  }

  @Test
  void locksAndCountersOutliveTheirLeader() throws Exception {
    start(3);
    try (IndexClient client = connect();
        IndexClient other = connect()) {
      final IndexLock lock = client.lock("a").ttl(Duration.ofSeconds(20));
      final LockHold hold = lock.acquire(Duration.ZERO).orElseThrow();
      final HashIndex<String, Long> counts =
          client.hash(IndexLock.INDEX, Codec.string(), Codec.int64()); // of the same leader
      assertEquals(1, counts.increment("n", 1));
      final CompletableFuture<LockHold> waiting =
          CompletableFuture.supplyAsync(
              () -> other.lock("a").acquire(Duration.ofMinutes(1)).orElseThrow());
      final ClusterMember first = leader(IndexLock.INDEX);
      await(ClusterMember.isWhole(3), first);
      members.remove(first);
      first.close();
      assertEquals(2, counts.increment("n", 1));
      final HashIndex<String, String> locks =
          other.hash(IndexLock.INDEX, Codec.string(), Codec.string());
      final long version = locks.getEntry("a").orElseThrow().version();
      final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
      while (locks.getEntry("a").orElseThrow().version() == version) { // the next leader renews
        assertTrue(System.nanoTime() < endNs && hold.isHeld());
        Thread.sleep(50);
      }
      assertTrue(hold.isHeld());
      assertNull(waiting.getNow(null), "another one has it, too");
      hold.close();
      try (LockHold next = waiting.get(60, TimeUnit.SECONDS)) {
        assertTrue(next.fence() > hold.fence());
      }
      assertEquals(3, counts.increment("n", 1));
    }
  }

  /** Their sums hold, and each is counted once, through two fail-overs under way. */
  @Test
  void transactionsOutliveTheirLeader() throws Exception {
    start(3);
    try (IndexClient client = connect()) {
      final List<Bank> banks =
          List.of(
              new Bank(client.hash("hash", Codec.string(), Codec.int64())),
              new Bank(client.ordered("tree", Codec.string(), Codec.int64())));
      banks.forEach(Bank::open);
      try (BankTellers tellers = new BankTellers(banks, 1)) {
        for (final String index : List.of("hash", "tree")) {
          final ClusterMember leader = leader(index);
          await(
              description ->
                  description.getGroupsList().stream()
                      .allMatch(group -> group.getEstablished() && group.getMembersCount() == 3),
              leader);
          tellers.await(50);
          members.remove(leader);
          leader.close();
          tellers.await(50);
          add(truth.connect(), ReplicationPath.AUTO);
        }
      }
      banks.forEach(Bank::checkCount);
    }
  }

  /** How records get to the members other than the leader, by its own word. */
  private static List<String> paths(DescribeClusterResponse description) {
    return description.getGroups(0).getMembersList().stream()
        .map(MemberDescription::getReplicatedBy)
        .filter(path -> !path.isEmpty())
        .sorted()
        .toList();
  }

  @Test
  void recordsArePlacedInTheMemoryOfMembersAndOutliveTheirLeader() throws Exception {
    start(3);
    final List<String> everywhere = List.of("one-sided shm", "one-sided shm");
    try (IndexClient client = connect()) {
      final HashIndex<String, Long> index = client.hash("a", Codec.string(), Codec.int64());
      index.put("before", 1L);
      for (int epoch = 0; epoch < 2; epoch++) { // one of the nodes that the client knows stays
        final ClusterMember leader = leader("a");
        await(ClusterMember.isWhole(3), leader);
        index.put("first", (long) epoch); // an idle leader asks for no memory
        await(description -> paths(description).equals(everywhere), leader);
        for (long i = 0; i < 2_000; i++) {
          index.put("k" + i % 100, 10_000L * epoch + i);
        }
        members.remove(leader);
        leader.close();
        for (long i = 1_900; i < 2_000; i++) {
          assertEquals(10_000L * epoch + i, index.get("k" + i % 100).orElseThrow());
        }
        add(truth.connect(), ReplicationPath.AUTO);
      }
      assertEquals(1L, index.get("before").orElseThrow());
    }
  }

  @Test
  void aMemberWithoutSharedMemoryGetsCalls() throws Exception {
    start(2);
    try (IndexClient client = connect()) {
      final HashIndex<String, Long> index = client.hash("a", Codec.string(), Codec.int64());
      index.put("x", 1L);
      add(truth.connect(), ReplicationPath.RPC);
      await(description -> paths(description).equals(List.of("one-sided shm", "rpc")), leader("a"));
      index.put("x", 2L);
      assertEquals(2L, index.get("x").orElseThrow());
    }
  }

  @Test
  void aWatchGoesOnAtTheNextLeaderWithoutALoss() throws Exception {
    start(3);
    try (IndexClient client = connect()) {
      final OrderedIndex<String, Long> ages = client.ordered("ages", Codec.string(), Codec.int64());
      ages.put("k", -1L);
      await(ClusterMember.isWhole(3), members.get(0));
      try (Watch<String, Long> watch = ages.watch(WatchOptions.fromNow())) {
        put(ages, 0, 100);
        take(watch, 0, 50);
        final ClusterMember first = leader("ages");
        members.remove(first);
        first.close();
        put(ages, 100, 200);
        take(watch, 50, 200);
        add(truth.connect(), ReplicationPath.AUTO); // which joins, with a snapshot
        await(ClusterMember.isWhole(3), leader("ages"));
        put(ages, 200, 300);
        take(watch, 200, 250);
        final ClusterMember second = leader("ages");
        members.remove(second);
        second.close();
        put(ages, 300, 400);
        take(watch, 250, 400);
      }
    }
  }

  @Test
  void aWatchOfABoxGoesOnAtTheNextLeaderWithoutALoss() throws Exception {
    start(3);
    try (IndexClient client = connect()) {
      final SpatialIndex<String, Long> places =
          client.spatial("places", Codec.string(), Codec.int64());
      places.put("k", Box.of(9, 9), -1L);
      await(ClusterMember.isWhole(3), members.get(0));
      final Box box = new Box(0, 0, 2, 2);
      try (Watch<String, Located<Long>> watch = places.watch(box, WatchOptions.fromNow())) {
        final Crossings crossings = new Crossings(places, watch, box);
        crossings.write(0, 100);
        crossings.take(30);
        final ClusterMember first = leader("places");
        members.remove(first);
        first.close();
        crossings.write(100, 200);
        crossings.takeAll();
        add(truth.connect(), ReplicationPath.AUTO); // which joins, with a snapshot
        await(ClusterMember.isWhole(3), leader("places"));
        crossings.write(200, 300);
        crossings.take(30);
        final ClusterMember second = leader("places");
        members.remove(second);
        second.close();
        crossings.write(300, 400);
        crossings.takeAll();
      }
    }
  }

  /** Entries that walk around, what that means for a box, and what a watch tells of it. */
  private static final class Crossings {
    private final SpatialIndex<String, Long> places;
    private final Watch<String, Located<Long>> watch;
    private final Box box;
    private final Map<String, Box> boxes = new HashMap<>();
    private final Map<String, Deque<IndexChange.Crossing>> expected = new HashMap<>();

    Crossings(SpatialIndex<String, Long> places, Watch<String, Located<Long>> watch, Box box) {
      this.places = places;
      this.watch = watch;
      this.box = box;
    }

    void write(long from, long to) {
      for (long i = from; i < to; i++) {
        final String id = "k" + i % 7;
        final Box before = boxes.get(id);
        final Box after = i % 13 == 12 ? null : Box.of((double) (i % 5), (double) (i % 3));
        if (after == null) {
          places.remove(id);
          boxes.remove(id);
        } else {
          places.put(id, after, i);
          boxes.put(id, after);
        }
        final boolean wasIn = before != null && box.intersects(before);
        final boolean isIn = after != null && box.intersects(after);
        if (wasIn || isIn) {
          expected
              .computeIfAbsent(id, unused -> new ArrayDeque<>())
              .add(
                  wasIn && isIn
                      ? IndexChange.Crossing.MOVE
                      : isIn ? IndexChange.Crossing.ENTER : IndexChange.Crossing.LEAVE);
        }
      }
    }

    void take(int count) {
      for (int i = 0; i < count; i++) {
        final var change = watch.next(Duration.ofSeconds(20)).orElseThrow();
        assertEquals(expected.get(change.key()).remove(), change.crossing().orElseThrow());
      }
    }

    void takeAll() {
      take(expected.values().stream().mapToInt(Deque::size).sum());
      assertEquals(Optional.empty(), watch.next(Duration.ofMillis(50)));
    }
  }

  private static void put(OrderedIndex<String, Long> index, long from, long to) {
    for (long i = from; i < to; i++) {
      index.put("k" + i % 7, i);
    }
  }

  private static void take(Watch<String, Long> watch, long from, long to) {
    for (long i = from; i < to; i++) {
      assertEquals(i, watch.next(Duration.ofSeconds(20)).orElseThrow().value().orElseThrow());
    }
  }

  @Test
  void aNodeThatDoesNotLeadNamesTheLeader() throws Exception {
    start(3);
    try (IndexClient client = connect()) {
      client.hash("a", Codec.string(), Codec.int64()).put("x", 1L);
    }
    final ClusterMember leader = leader("a");
    for (final ClusterMember member : members) {
      try (IndexClient client = IndexClient.connect(member.address())) { // one address is enough
        assertEquals(1L, client.hash("a", Codec.string(), Codec.int64()).get("x").orElseThrow());
        assertTrue(client.indexes().contains("a"));
      }
    }
    assertEquals(3, leader.describe().getGroups(0).getMembersCount());
  }

  @Test
  void eachNodeKnowsTheDefinitionsOfAllIndexes() throws Exception {
    start(3);
    members
        .get(0)
        .ask(
            admin ->
                admin.createIndex(
                    CreateIndexRequest.newBuilder().setIndex("a").setKind(IndexKind.HASH).build()));
    try (IndexClient client = connect()) {
      client.hash("a", Codec.string(), Codec.int64()).put("x", 1L);
      client.ordered("b", Codec.string(), Codec.int64()).put("x", 1L);
    }
    for (final ClusterMember member : members) {
      final List<IndexDescription> indexes =
          member
              .ask(admin -> admin.listIndexes(ListIndexesRequest.getDefaultInstance()))
              .getIndexesList();
      assertEquals(2, indexes.size());
      for (final IndexDescription index : indexes) {
        assertEquals(index.getName().equals("a"), index.getKind() == IndexKind.HASH);
        assertEquals(leader(index.getName()) != member, index.getLedElsewhere());
        assertEquals(index.getLedElsewhere() ? 0 : 1, index.getEntries());
        assertTrue(index.getIncarnation() != 0 && index.getMemoryLimit() > 0);
      }
    }
  }

  @Test
  void aNodeThatHasNotReadTheCoordinatorKnowsOfNoIndex() throws Exception {
    final LocalCoordinator coordinator = truth.connect();
    coordinator.reachable(false);
    add(coordinator, ReplicationPath.AUTO);
    try (IndexClient client =
        IndexClient.builder()
            .target(targets())
            .deadline(Duration.ofSeconds(1))
            .exactlyOnce(false)
            .build()) {
      final HashIndex<String, Long> view = client.hash("a", Codec.string(), Codec.int64());
      assertEquals(
          Status.Code.UNAVAILABLE, assertThrows(IndexException.class, () -> view.get("x")).code());
    }
  }

  /** Adds a node that has not been told of the index a, which is there. */
  private ClusterMember late() throws Exception {
    start(2);
    try (IndexClient client = connect()) {
      client.hash("a", Codec.string(), Codec.int64()).put("x", 1L);
    }
    add(LaggingCoordinator.before(truth.connect()), ReplicationPath.AUTO);
    final ClusterMember late = members.get(2);
    await(DescribeClusterResponse::getCoordinatorReached, late);
    assertEquals(0, late.describe().getGroupsCount());
    return late;
  }

  @Test
  void aNodeThatLagsBehindTheCoordinatorDoesNotTakeAnIndexForAbsent() throws Exception {
    final ClusterMember late = late();
    final GetRequest request =
        GetRequest.newBuilder().setIndex("a").setKey(ByteString.copyFromUtf8("x")).build();
    final StatusRuntimeException refusal =
        assertThrows(
            StatusRuntimeException.class,
            () ->
                IndexGrpc.newBlockingStub(late.channel())
                    .withDeadlineAfter(20, TimeUnit.SECONDS)
                    .get(request));
    assertEquals(Status.Code.FAILED_PRECONDITION, refusal.getStatus().getCode());
    assertEquals(leader("a").address(), Status.trailersFromThrowable(refusal).get(Trailers.LEADER));
  }

  @Test
  void aNodeThatLagsBehindTheCoordinatorDropsAnIndex() throws Exception {
    final DropIndexRequest request = DropIndexRequest.newBuilder().setIndex("a").build();
    assertTrue(late().ask(admin -> admin.dropIndex(request)).getExisted());
  }

  @Test
  void aDroppedIndexIsGoneEverywhere() throws Exception {
    start(3);
    try (IndexClient client = connect()) {
      final HashIndex<String, Long> view = client.hash("a", Codec.string(), Codec.int64());
      view.put("x", 1L);
      assertTrue(client.drop("a"));
      view.put("y", 2L);
      assertTrue(view.get("x").isEmpty());
    }
  }
}
