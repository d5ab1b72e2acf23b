package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.coordinator.LocalCoordinator;
import dev.ringfetch.index.service.IndexMemory;
import dev.ringfetch.index.service.IndexMemoryContext;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.DescribeClusterResponse;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.OpenClientRequest;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.PutResponse;
import dev.ringfetch.index.v1.RequestNumber;
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

/** Indexes on nodes with data directories, all of which end, in order or not. */
final class StoppedClusterTest {
  private static final String INDEX = "ages";

  /** Clients send again and again for so long, where the machine is busy and leaders change. */
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  @TempDir private Path directory;
  private final LocalCoordinator.Truth truth = new LocalCoordinator.Truth();
  private final List<Member> members = new ArrayList<>();

  /** A node of a name. */
  private static final class Member extends ClusterMember {
    private final String name;
    private final LocalCoordinator coordinator;

    Member(LocalCoordinator coordinator, Path data) throws Exception {
      super(
          coordinator,
          IndexMemory.shared(
              new IndexMemoryContext().budget(64L << 20).fallback(true).dataDirectory(data)));
      name = data.getFileName().toString();
      this.coordinator = coordinator;
    }

    IndexGrpc.IndexBlockingStub calls() {
      return IndexGrpc.newBlockingStub(channel()).withDeadlineAfter(20, TimeUnit.SECONDS);
    }

    boolean leads() {
      return describe().getGroupsList().stream()
          .anyMatch(group -> group.getRole().equals("LEADING"));
    }
  }

  private void start(String... names) throws Exception {
    for (final String name : names) {
      members.add(new Member(truth.connect(), directory.resolve(name)));
    }
    await(description -> description.getNodesCount() == members.size());
  }

  private void startAndLead(String... names) throws Exception {
    start(names);
    await(description -> members.stream().anyMatch(Member::leads));
  }

  @AfterEach
  void end() {
    members.forEach(member -> member.end(false));
  }

  private void endAll(boolean inOrder) {
    members.forEach(member -> member.end(inOrder));
    members.clear();
  }

  private void await(Predicate<DescribeClusterResponse> condition) throws Exception {
    members.get(0).await(30, condition);
  }

  private void awaitWhole(int count) throws Exception {
    await(ClusterMember.isWhole(count));
  }

  private void create(Durability durability) {
    members
        .get(0)
        .ask(
            stub ->
                stub.createIndex(
                    CreateIndexRequest.newBuilder()
                        .setIndex(INDEX)
                        .setKind(IndexKind.ORDERED)
                        .setDurability(durability)
                        .build()));
  }

  /** Starts three nodes with an index, all of which have these entries. */
  private void startWith(Durability durability, int count) throws Exception {
    start("a", "b", "c");
    create(durability);
    awaitWhole(3);
    put(0, count);
  }

  private void end(Member member, boolean inOrder) {
    members.remove(member);
    member.end(inOrder);
  }

  private IndexClient connect(Duration deadline) {
    final String targets = String.join(",", members.stream().map(Member::address).toList());
    return IndexClient.builder().target(targets).deadline(deadline).build();
  }

  private void put(int from, int to) throws Exception {
    final long endNs = System.nanoTime() + PATIENCE.toNanos();
    try (IndexClient client = connect(PATIENCE)) {
      final OrderedIndex<String, Long> ages = client.ordered(INDEX, Codec.string(), Codec.int64());
      for (long i = from; i < to; ) {
        try {
          ages.put("k" + i, i);
          i++;
        } catch (UnavailableException e) { // the client waits less long for a leader
          assertTrue(System.nanoTime() - endNs < 0, e::getMessage);
        }
      }
    }
  }

  private void check(int count) {
    try (IndexClient client = connect(PATIENCE)) {
      final OrderedIndex<String, Long> ages = client.ordered(INDEX, Codec.string(), Codec.int64());
      for (long i = 0; i < count; i++) {
        assertEquals(i, ages.get("k" + i).orElseThrow());
      }
    }
  }

  private void checkNotServed() {
    try (IndexClient client = connect(Duration.ofSeconds(5))) { // longer than a cold start waits
      final OrderedIndex<String, Long> ages = client.ordered(INDEX, Codec.string(), Codec.int64());
      assertEquals(
          Status.Code.UNAVAILABLE, assertThrows(IndexException.class, () -> ages.get("k0")).code());
    }
  }

  private int records() throws IOException {
    int count = 0;
    for (final String name : List.of("a", "b", "c")) {
      try (DirectoryStream<Path> files =
          Files.newDirectoryStream(directory.resolve(name), "stop-*")) {
        for (final Path unused : files) {
          count++;
        }
      }
    }
    return count;
  }

  private static PutRequest numbered(long client, long number, String key) {
    return PutRequest.newBuilder()
        .setIndex(INDEX)
        .setKey(ByteString.copyFromUtf8(key))
        .setValue(ByteString.copyFromUtf8("v"))
        .setNumber(
            RequestNumber.newBuilder().setClient(client).setNumber(number).setFirstIncomplete(1))
        .build();
  }

  /** Calls the leader, which may be another one in a moment. */
  private <T> T call(Function<IndexGrpc.IndexBlockingStub, T> call) throws Exception {
    final long endNs = System.nanoTime() + PATIENCE.toNanos();
    while (true) {
      for (final Member member : members) {
        try {
          if (member.leads()) {
            return call.apply(member.calls());
          }
        } catch (StatusRuntimeException e) {
          final Status.Code code = e.getStatus().getCode();
          if (code != Status.Code.UNAVAILABLE && code != Status.Code.FAILED_PRECONDITION) {
            throw e;
          }
        }
      }
      assertTrue(System.nanoTime() - endNs < 0, () -> members.get(0).describe().toString());
      Thread.sleep(10);
    }
  }

  @Tag("slow")
  @Test
  void entriesAreThereAfterAllNodesHaveEndedInOrder() throws Exception {
    startWith(Durability.MEMORY, 300);
    final long client =
        call(calls -> calls.openClient(OpenClientRequest.newBuilder().setIndex(INDEX).build()))
            .getClient();
    final PutResponse first = call(calls -> calls.put(numbered(client, 1, "numbered")));
    for (int left = 2; left > 0; left--) {
      end(members.get(left), true);
      put(300 + 100 * (2 - left), 400 + 100 * (2 - left)); // the others go on
    }
    endAll(true);

    startAndLead("a", "b", "c");
    check(500);
    assertEquals(0, records());
    assertEquals(first, call(calls -> calls.put(numbered(client, 1, "numbered")))); // not again
    final PutResponse second = call(calls -> calls.put(numbered(client, 2, "other")));
    assertTrue(second.getVersion() > first.getVersion() + 200, () -> first + " " + second);
    awaitWhole(3);

    endAll(false); // which leaves nothing: the older record does not come back
    assertEquals(0, records());
    start("a", "b", "c");
    checkNotServed();
  }

  @Test
  void entriesAreThereAfterAllNodesHaveEndedAtOnce() throws Exception {
    startWith(Durability.MEMORY, 200);
    final List<Thread> ending = new ArrayList<>();
    for (final Member member : members) {
      final Thread thread = new Thread(() -> member.end(true));
      ending.add(thread);
      thread.start();
    }
    members.clear();
    for (final Thread thread : ending) {
      thread.join();
    }
    startAndLead("a", "b", "c");
    check(200);
    put(200, 300);
    awaitWhole(3);
    endAll(true);
    startAndLead("a", "b", "c");
    check(300);
  }

  /** The member that leads; waits until there is one. */
  private Member leader() throws Exception {
    final long endNs = System.nanoTime() + PATIENCE.toNanos();
    while (true) {
      for (final Member member : members) {
        if (member.leads()) {
          return member;
        }
      }
      assertTrue(System.nanoTime() - endNs < 0, () -> members.get(0).describe().toString());
      Thread.sleep(10);
    }
  }

  /** All end at once, and no configuration comes. Returns the name of the last leader. */
  private String cutPower() throws Exception {
    members.forEach(member -> member.coordinator.reachable(false));
    final String leader = leader().name;
    endAll(false);
    return leader;
  }

  @Test
  @Tag("slow")
  void theDirectoryOfTheLastLeaderHasAllWhereOnlyItsDiskCounts() throws Exception {
    startWith(Durability.LEADER_DISK, 200);
    final Member first = leader();
    end(first, false);
    put(200, 300); // by another leader, whose directory counts from now on
    start(first.name);
    awaitWhole(3);
    final String leader = cutPower();
    start(others(leader));
    checkNotServed();
    startAndLead(leader);
    check(300);
    awaitWhole(3);
  }

  private static String[] others(String name) {
    return List.of("a", "b", "c").stream()
        .filter(other -> !other.equals(name))
        .toArray(String[]::new);
  }

  @Test
  @Tag("slow")
  void aLeaderThatHasHandedOverNeedsNoRecord() throws Exception {
    startWith(Durability.MEMORY, 100);
    final Member leader = leader();
    end(leader, true);
    assertEquals(0, records());
    check(100);
  }

  @Test
  @Tag("slow")
  void anOlderRecordDoesNotCount() throws Exception {
    startWith(Durability.MEMORY, 100);
    final Member leader = leader(); // which would hand over, and write no record
    final Member other = members.get(members.get(0) == leader ? 1 : 0);
    end(other, true);
    assertEquals(1, records());
    awaitWhole(2);
    put(100, 200);
    endAll(false);
    start("a", "b", "c"); // one of them has what there was before the last writes
    checkNotServed();
  }
}
