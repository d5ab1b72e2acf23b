package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.coordinator.LocalCoordinator;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.GroupDescription;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.RecoverIndexRequest;
import dev.ringfetch.index.v1.RecoverIndexResponse;
import dev.ringfetch.index.v1.UnreadFile;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Indexes that go on with what is left: of processes that ended in order, and of members' disks.
 */
final class RecoveredClusterTest {
  private static final String INDEX = "ages";
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  @TempDir private Path directory;
  private final LocalCoordinator.Truth truth = new LocalCoordinator.Truth();
  private final Map<String, ClusterMember> members = new TreeMap<>();
  private final Map<String, LocalCoordinator> coordinators = new TreeMap<>();

  private void start(String... names) throws Exception {
    for (final String name : names) {
      coordinators.put(name, truth.connect());
      members.put(
          name,
          new ClusterMember(coordinators.get(name), ClusterMember.memory(directory.resolve(name))));
    }
    await(() -> any().describe().getNodesCount() == members.size());
  }

  private ClusterMember any() {
    return members.values().iterator().next();
  }

  private void endInOrder(String name) {
    members.remove(name).end(true);
  }

  @AfterEach
  void endAll() {
    members.values().forEach(ClusterMember::close);
  }

  private static void await(BooleanSupplier condition) throws Exception {
    final long endNs = System.nanoTime() + PATIENCE.toNanos();
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() - endNs < 0);
      Thread.sleep(10);
    }
  }

  private static boolean leads(ClusterMember member, int count) {
    return member.describe().getGroupsList().stream()
        .anyMatch(
            group ->
                group.getRole().equals("LEADING")
                    && group.getEstablished()
                    && group.getMembersCount() == count);
  }

  private String leader() {
    return members.entrySet().stream()
        .filter(member -> leads(member.getValue(), 3))
        .findFirst()
        .orElseThrow()
        .getKey();
  }

  private void awaitMembers(int count) throws Exception {
    await(() -> members.values().stream().anyMatch(member -> leads(member, count)));
  }

  private void create(Durability durability) {
    final CreateIndexRequest request =
        CreateIndexRequest.newBuilder()
            .setIndex(INDEX)
            .setKind(IndexKind.ORDERED)
            .setDurability(durability)
            .build();
    any().ask(stub -> stub.createIndex(request));
  }

  private IndexClient connect() {
    final String targets =
        String.join(",", members.values().stream().map(ClusterMember::address).toList());
    return IndexClient.builder().target(targets).deadline(PATIENCE).build();
  }

  private static OrderedIndex<String, Long> ages(IndexClient client) {
    return client.ordered(INDEX, Codec.string(), Codec.int64());
  }

  private void put(long from, long to) throws Exception {
    final long endNs = System.nanoTime() + PATIENCE.toNanos();
    try (IndexClient client = connect()) {
      for (long i = from; i < to; ) {
        try {
          ages(client).put("k" + i, i);
          i++;
        } catch (UnavailableException e) { // the client waits less long for a leader
          assertTrue(System.nanoTime() - endNs < 0, e::getMessage);
        }
      }
    }
  }

  /** All of the first entries are there, and no others. */
  private void check(long count) {
    try (IndexClient client = connect()) {
      assertEquals(count, ages(client).count());
      for (long i = 0; i < count; i++) {
        assertEquals(i, ages(client).get("k" + i).orElseThrow());
      }
    }
  }

  private static RecoverIndexRequest.Builder request() {
    return RecoverIndexRequest.newBuilder().setIndex(INDEX);
  }

  private RecoverIndexResponse recover(RecoverIndexRequest request) {
    return any().ask(stub -> stub.recoverIndex(request));
  }

  /** Looks at the index until it is lost, and all nodes have said what they have. */
  private RecoverIndexResponse look(String obstacle) throws Exception {
    final long endNs = System.nanoTime() + PATIENCE.toNanos();
    while (true) {
      String why;
      try {
        final RecoverIndexResponse all = recover(request().setLook(true).build());
        assertEquals("", all.getObstacle()); // as no node is named
        final RecoverIndexResponse found =
            recover(request().setLook(true).setNode(best(all)).build());
        why = found.getObstacle();
        if (obstacle.isEmpty() ? why.isEmpty() : why.contains(obstacle)) {
          return found;
        }
      } catch (StatusRuntimeException e) { // the last process is announced yet
        assertEquals(Status.Code.FAILED_PRECONDITION, e.getStatus().getCode());
        why = e.getMessage();
      }
      final String last = why;
      assertTrue(System.nanoTime() - endNs < 0, () -> last + "\n" + describe());
      Thread.sleep(10);
    }
  }

  private String describe() {
    return members.values().stream()
        .map(member -> member.address() + " " + member.describe())
        .collect(Collectors.joining("\n"));
  }

  private static long best(RecoverIndexResponse found) {
    return found.getCopies(0).getNode().getNode();
  }

  /** Accepts the loss of what was looked at, by default with what the best node has. */
  private void accept(RecoverIndexResponse found, RecoverIndexRequest.Builder request) {
    if (request.getNode() == 0) {
      request.setNode(best(found));
    }
    recover(request.setStateVersion(found.getStateVersion()).setEpoch(found.getEpoch()).build());
  }

  private void delete(String name) throws IOException {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory.resolve(name))) {
      for (final Path file : files) {
        Files.delete(file);
      }
    }
  }

  private long number(String name) {
    return members.get(name).describe().getNode();
  }

  @Test
  void anIndexInMemoryGoesOnWithTheNewestRecordThatIsLeft() throws Exception {
    start("a", "b", "c");
    create(Durability.MEMORY);
    awaitMembers(3);
    final String leader = leader(); // which would hand over, and leave no record
    final List<String> others = Stream.of("a", "b", "c").filter(n -> !n.equals(leader)).toList();
    final String first = others.get(0);
    final String second = others.get(1);
    put(0, 100);
    endInOrder(first);
    awaitMembers(2);
    put(100, 150);
    endInOrder(second);
    awaitMembers(1);
    put(150, 200);
    final long left = number(leader);
    endInOrder(leader);
    delete(leader); // which alone has all

    start(first, second);
    final RecoverIndexResponse found = look("");
    assertEquals(number(second), found.getNode());
    assertEquals(Durability.MEMORY, found.getDurability());
    assertEquals(List.of(left), found.getMembersList());
    assertTrue(found.getCopies(0).getWrittenMs() > found.getCopies(1).getWrittenMs());
    assertTrue(found.getCopies(1).getLogEpoch() != 0, found::toString);
    final StatusRuntimeException refused =
        assertThrows(
            StatusRuntimeException.class, () -> accept(found, request().setNode(number(first))));
    assertTrue(refused.getMessage().contains("another node has more"), refused::getMessage);
    accept(found, request());
    awaitMembers(2);
    check(150);
    put(150, 160);
    members.remove(second).close();
    awaitMembers(1);
    check(160);
  }

  @Test
  void aRecordThatCannotBeReadIsGivenUpOnlyByItsName() throws Exception {
    start("a");
    create(Durability.MEMORY);
    awaitMembers(1);
    put(0, 50);
    endInOrder("a");
    final Path file;
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory.resolve("a"), "stop-*")) {
      file = files.iterator().next();
    }
    final byte[] whole = Files.readAllBytes(file);
    final byte[] damaged = Arrays.copyOf(whole, whole.length - Long.BYTES);
    Files.write(file, damaged);

    start("a", "b");
    final String name = file.getFileName().toString();
    assertEquals(0, look("file=" + name).getNode());
    members.remove("a").close();
    Files.write(file, whole); // the operator had a copy
    start("a");
    awaitMembers(2);
    check(50);

    endInOrder("b");
    awaitMembers(1);
    endInOrder("a");
    Files.write(file, damaged);
    start("a", "b");
    final RecoverIndexResponse found = look("file=" + name);
    assertThrows(StatusRuntimeException.class, () -> accept(found, request()));
    final UnreadFile unread =
        found.getCopiesList().stream()
            .filter(copy -> copy.hasUnread())
            .findFirst()
            .orElseThrow()
            .getUnread();
    assertEquals(number("a"), unread.getNode());
    accept(found, request().addGivenUp(unread));
    awaitMembers(2);
    check(50); // as the other one's record has
  }

  @Test
  void anIndexOfWhichOnlyTheLeadersDiskHadAllGoesOnWithAMembersDisk() throws Exception {
    start("a", "b", "c");
    create(Durability.LEADER_DISK);
    awaitMembers(3);
    put(0, 200);
    final String leader =
        members.entrySet().stream()
            .filter(each -> leads(each.getValue(), 3))
            .findFirst()
            .orElseThrow()
            .getKey();
    await(() -> members.values().stream().allMatch(RecoveredClusterTest::hasAll));
    coordinators.values().forEach(each -> each.reachable(false)); // no other one takes it over
    final Set<String> left = new TreeSet<>(members.keySet());
    members.values().forEach(ClusterMember::close);
    members.clear();
    left.remove(leader);
    delete(leader);
    start(left.toArray(String[]::new));
    accept(look(""), request());
    awaitMembers(2);
    try (IndexClient client = connect()) {
      final long count = ages(client).count();
      assertTrue(count > 0);
      check(count);
    }
  }

  private static boolean hasAll(ClusterMember member) {
    final GroupDescription group = member.describe().getGroups(0);
    return group.getRole().equals("LEADING") || group.getCommit() >= 200;
  }
}
