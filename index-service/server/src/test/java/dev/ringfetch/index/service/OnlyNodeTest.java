package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.FirstAnswer;
import dev.ringfetch.index.replication.Replicas;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.CreateIndexResponse;
import dev.ringfetch.index.v1.DropIndexRequest;
import dev.ringfetch.index.v1.DropIndexResponse;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.GroupDescription;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.PutResponse;
import io.grpc.StatusException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
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
                                        .create("turns", IndexKind.HASH, Durability.DISK, 0, told);
                                  } else {
                                    indexes.catalog().drop("turns", told);
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
  void fileOfAnEarlierOrderlyEndCountsForNothing() throws Exception {
    start();
    create("in memory", Durability.MEMORY);
    stop();
    final Path file = left();
    final byte[] bytes = Files.readAllBytes(file);
    for (int i = 0; i < 2; i++) {
      start();
      if (i == 0) {
        awaitNames("default", "in memory");
        stop();
      } else {
        awaitNames("default");
        assertFalse(Files.exists(file));
        kill();
      }
      Files.write(file, bytes);
      final long beginNs = System.nanoTime();
      start();
      final long startNs = System.nanoTime() - beginNs;
      assertTrue(startNs < TimeUnit.SECONDS.toNanos(30), "ns=" + startNs);
      awaitNames("default");
      kill();
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
