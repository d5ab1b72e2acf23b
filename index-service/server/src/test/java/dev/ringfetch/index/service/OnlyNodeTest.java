package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.FirstAnswer;
import dev.ringfetch.index.coordinator.Coordinator;
import dev.ringfetch.index.coordinator.LocalCoordinator;
import dev.ringfetch.index.replication.Replicas;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.CreateIndexResponse;
import dev.ringfetch.index.v1.DropIndexRequest;
import dev.ringfetch.index.v1.DropIndexResponse;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.GroupDescription;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.Member;
import dev.ringfetch.index.v1.Node;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.PutResponse;
import io.grpc.StatusException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The starts of a server alone. */
@Timeout(120)
final class OnlyNodeTest {
  @TempDir Path parent;

  private Indexes indexes;

  /** Starts a server on the directory. */
  private void start() throws Exception {
    indexes =
        new Indexes(
            IndexMemory.ofProcess(
                new IndexMemoryContext().budget(64L << 20).dataDirectory(parent.resolve("data"))));
  }

  /** Ends the node as a kill does: it leaves no record of its indexes in memory. */
  @AfterEach
  void kill() {
    indexes.close();
  }

  private void stop() {
    indexes.node().stop(unsaved -> {});
    indexes.close();
  }

  /** Waits until the cluster has these indexes: a drop is answered before the node forgets one. */
  private void awaitNames(String... expected) throws InterruptedException {
    List<String> names;
    final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    do {
      names =
          indexes.catalog().describe().getGroupsList().stream()
              .map(GroupDescription::getIndex)
              .sorted()
              .toList();
      Thread.sleep(1);
    } while (!names.equals(List.of(expected)) && System.nanoTime() - endNs < 0);
    assertEquals(List.of(expected), names);
  }

  private void create(String name, Durability level) throws Exception {
    final FirstAnswer<CreateIndexResponse> created = new FirstAnswer<>();
    new IndexAdminService(indexes)
        .createIndex(
            CreateIndexRequest.newBuilder().setIndex(name).setDurability(level).build(), created);
    assertTrue(created.get(60, TimeUnit.SECONDS).getCreated());
    final FirstAnswer<PutResponse> put = new FirstAnswer<>();
    new IndexService(indexes)
        .put(
            PutRequest.newBuilder().setIndex(name).setKey(ByteString.copyFromUtf8("key")).build(),
            put);
    assertTrue(put.get(60, TimeUnit.SECONDS).getCreated());
  }

  /** As writes create what others drop: none waits for a group that is gone. */
  @Test
  void creationsAndDropsOfOneNameAreAllCarriedOut() throws Exception {
    start();
    final List<CompletableFuture<Integer>> workers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      final boolean creates = i % 2 == 0;
      workers.add(
          CompletableFuture.supplyAsync(
              () -> {
                int done = 0;
                try {
                  for (int n = 0; n < 300; n++) {
                    done +=
                        IndexRequests.await(
                                told -> {
                                  if (creates) {
                                    indexes
                                        .catalog()
                                        .create(
                                            IndexRequests.request(
                                                "turns", IndexKind.HASH, Durability.DISK),
                                            told);
                                  } else {
                                    indexes.catalog().drop("turns", 0, told);
                                  }
                                })
                            ? 1
                            : 0;
                  }
                } catch (StatusException e) {
                  throw new AssertionError(creates ? "create" : "drop", e);
                }
                return done;
              },
              task -> new Thread(task).start()));
    }
    int dropped = 0;
    for (int i = 0; i < workers.size(); i++) {
      final int done = workers.get(i).get(100, TimeUnit.SECONDS);
      dropped += i % 2 == 0 ? 0 : done;
    }
    assertTrue(dropped > 0);
  }

  @Test
  void indexDefaultIsThereAsItIsAtAServerAlone() throws Exception {
    start();
    awaitNames("default");
    assertEquals(IndexKind.HASH, indexes.find("").kind());
    final FirstAnswer<DropIndexResponse> dropped = new FirstAnswer<>();
    new IndexAdminService(indexes).dropIndex(DropIndexRequest.getDefaultInstance(), dropped);
    assertTrue(dropped.get(60, TimeUnit.SECONDS).getExisted());
    awaitNames();
    stop();
    start();
    awaitNames("default");
  }

  @Test
  void indexInMemoryStaysAfterAnOrderlyEndAndNotAfterAKill() throws Exception {
    start();
    create("in memory", Durability.MEMORY);
    stop();
    start();
    awaitNames("default", "in memory");
    kill();
    start();
    awaitNames("default");
    create("in memory", Durability.MEMORY);
  }

  /** Its earlier process led, and cannot any more. */
  @Test
  void startWaitsForNoOtherLeader() throws Exception {
    long shortestNs = Long.MAX_VALUE;
    for (int i = 0; i < 5; i++) { // any of them may be late by itself
      start();
      create("on disk " + i, Durability.DISK);
      kill();
      final long beginNs = System.nanoTime();
      start();
      shortestNs = Math.min(shortestNs, System.nanoTime() - beginNs);
      stop();
    }
    start();
    assertTrue(shortestNs < Replicas.NODE_TIMEOUT_DEFAULT.toNanos(), "ns=" + shortestNs);
  }

  /** The file that an orderly end has left of the smallest index: the default one is larger. */
  private Path left() throws IOException {
    return files("stop-").min(Comparator.comparingLong(file -> file.toFile().length())).get();
  }

  /** An operator decides on it. */
  @Test
  void damagedFileOfAnOrderlyEndRefusesTheStart() throws Exception {
    start();
    create("in memory", Durability.MEMORY);
    stop();
    final Path file = left();
    final byte[] bytes = Files.readAllBytes(file);
    Files.write(file, Arrays.copyOf(bytes, bytes.length / 2));
    final IOException refusal = assertThrows(IOException.class, this::start);
    assertTrue(
        refusal.getMessage().contains("delete it to give the index up: damaged: file=" + file),
        refusal::getMessage);
    Files.write(file, bytes);
    start();
    awaitNames("default", "in memory");
    stop();
    Files.delete(left());
    start();
    awaitNames("default");
  }

  /** As by an operator who has put an older copy of the directory's files back. */
  @Test
  void fileOfAnEarlierOrderlyEndRefusesTheStart() throws Exception {
    start();
    create("in memory", Durability.MEMORY);
    stop();
    final Path file = left();
    final byte[] earlier = Files.readAllBytes(file);
    start();
    awaitNames("default", "in memory");
    stop();
    final byte[] last = Files.readAllBytes(file);
    assertPutBack(file, earlier);
    Files.write(file, last);
    start();
    awaitNames("default", "in memory");
    assertFalse(Files.exists(file));
    kill();
    assertPutBack(file, last);
    Files.delete(file);
    start();
    awaitNames("default");
  }

  private void assertPutBack(Path file, byte[] bytes) throws IOException {
    Files.write(file, bytes);
    final IOException refusal = assertThrows(IOException.class, this::start);
    assertTrue(
        refusal.getMessage().matches(".* was put back: .*index=in memory file=" + file),
        refusal::getMessage);
    assertArrayEquals(bytes, Files.readAllBytes(file));
  }

  /** Nobody has written since the orderly end. */
  @Test
  void indexInMemoryStaysAfterAStartThatWasKilled() throws Exception {
    start();
    create("in memory", Durability.MEMORY);
    final long node = indexes.memory().data().node();
    stop();
    final Path file = left();
    for (int incarnation = 1_000; incarnation < 1_002; incarnation++) {
      win(node, incarnation);
      assertTrue(Files.exists(file));
    }
    start();
    awaitNames("default", "in memory");
    final FirstAnswer<GetResponse> found = new FirstAnswer<>();
    new IndexService(indexes)
        .get(
            GetRequest.newBuilder()
                .setIndex("in memory")
                .setKey(ByteString.copyFromUtf8("key"))
                .build(),
            found);
    assertTrue(found.get(60, TimeUnit.SECONDS).hasEntry());
    assertFalse(Files.exists(file));
  }

  /** Does with all indexes what a start does before it removes files of orderly ends. */
  private void win(long node, long incarnation) throws IOException {
    final LocalCoordinator coordinator =
        LocalCoordinator.Truth.open(parent.resolve("data"), node, node).connect();
    final List<GroupState> groups = new ArrayList<>();
    coordinator.poll(new GroupsSeen(groups::add));
    final List<Coordinator.Result> results = new ArrayList<>();
    for (final GroupState group : groups) {
      final Configuration won =
          Configuration.newBuilder()
              .setLeader(node)
              .setNonce(incarnation)
              .addMembers(Member.newBuilder().setNode(node).setIncarnation(incarnation))
              .build();
      coordinator.win(group, won, (result, state) -> results.add(result));
    }
    coordinator.poll(new GroupsSeen(group -> {}));
    assertEquals(Collections.nCopies(2, Coordinator.Result.DONE), results);
    coordinator.close();
  }

  /** A listener that looks at groups alone. */
  private record GroupsSeen(Consumer<GroupState> seen) implements Coordinator.Listener {
    @Override
    public void onGroup(GroupState group) {
      seen.accept(group);
    }

    @Override
    public void onDropped(long group) {
      // None is.
    }

    @Override
    public void onDroppedGroups(Collection<Long> newest) {
      // None is.
    }

    @Override
    public void onNodes(Collection<Node> nodes) {
      // None is announced.
    }

    @Override
    public void onConnected(boolean reachable) {
      // It is in this process.
    }
  }

  @Test
  void indexStaysWhoseJournalIsGone() throws Exception {
    start();
    create("on disk", Durability.DISK);
    kill();
    for (final Path file : files("journal-").toList()) {
      Files.delete(file);
    }
    Files.delete(parent.resolve("data").resolve("checkpoint"));
    start();
    create("later", Durability.MEMORY);
    awaitNames("default", "later", "on disk");
  }

  private Stream<Path> files(String prefix) throws IOException {
    try (Stream<Path> all = Files.list(parent.resolve("data"))) {
      return all.filter(file -> file.getFileName().toString().startsWith(prefix)).toList().stream();
    }
  }
}
